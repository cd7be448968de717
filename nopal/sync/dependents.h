// SPDX-License-Identifier: MIT
// What awaits something that happens once: the items of work that follow a task (nopal/submit.h,
// nopal/task_group.h).
//
//   first: the dependency that was added last, 0, or kReleased
//
// Contract: each dependency whose `add` returned true arrives once, in `release`, unless it was
//           forgotten; one that was too late sees what was written before the `release`, and so
//           does whoever an arrival tells.
// Orders:
//   A  add: CAS release. Partner: R, which reads the dependency. The CAS of the next `add`
//      continues the release sequence.
//   R  release: exchange acq_rel. Partner: A, and the acquire loads of `add`, which see kReleased.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

// It lies with the item that awaits.
template <class Item> struct dependency {
  base::handed_over<dependency*> next{nullptr};
  base::handed_over<Item*> item{nullptr};
};

template <class Item> class dependents {
public:
  // False: it has happened.
  bool add(dependency<Item>* by) noexcept {
    std::uintptr_t seen = first_.load(base::acquire); // R
    do {
      if (seen == kReleased)
        return false;
      by->next = reinterpret_cast<dependency<Item>*>(seen);
    } while (!first_.compare_exchange_weak(seen, reinterpret_cast<std::uintptr_t>(by),
                                           base::release, base::acquire)); // A, R
    return true;
  }
  // True: it was the only one, and is none any more.
  bool forget(dependency<Item>* only) noexcept {
    auto expected = reinterpret_cast<std::uintptr_t>(only);
    return first_.compare_exchange_strong(expected, 0, base::relaxed, base::relaxed);
  }
  // Once: calls arrive(item) for each. A dependency may be gone when its item has arrived.
  template <class Arrive> void release(Arrive arrive) noexcept {
    auto* at = reinterpret_cast<dependency<Item>*>(first_.exchange(kReleased, base::acq_rel)); // R
    while (at != nullptr) {
      Item* const item = at->item;
      at = at->next;
      arrive(item);
    }
  }

private:
  static constexpr std::uintptr_t kReleased = 1; // no address of a dependency

  base::atomic<std::uintptr_t> first_{0};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
