// SPDX-License-Identifier: MIT
// The state of a mutex: free, held, or held and wanted by the fibers in a queue, which get it in
// the order in which they came.
//
// Contract:  a strand that holds a mutex sees what those that held it before have written.
// Invariant: (lock free)  state_ == kWanted  exactly if the mutex is held and a fiber is in the
//            queue that was there, cancelled or not, when the mutex was held last or came since.
// Orders:
//   A  try_hold, join: acquire where it was free. Partner: R.
//   R  try_free, pass: release. Where a fiber is in the queue there is no R: the contract then
//      rests on what wakes the fiber (the ready queue's lock, or thread_waker).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/sync/wait_list.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Fiber> class mutex_queue {
public:
  bool try_hold() noexcept {
    std::uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, base::acquire, base::relaxed); // A
  }

  // False: the caller must `pass` it.
  bool try_free() noexcept {
    std::uint32_t expected = kHeld;
    return state_.compare_exchange_strong(expected, kFree, base::release, base::relaxed); // R
  }

  // False: it was free, and is held by the caller now.
  bool join(Fiber* fiber) noexcept {
    return waiting_.join(fiber, [this] {
      std::uint32_t seen = state_.load(base::relaxed);
      std::uint32_t next = kFree;
      do
        next = seen == kFree ? kHeld : kWanted;
      while (!state_.compare_exchange_weak(seen, next, base::acquire, base::relaxed)); // A
      return seen == kFree;
    });
  }

  struct passed {
    bool was_held = false; // else it is a mistake of the user
    Fiber* to = nullptr;   // the caller must make it ready; null: all in the queue are cancelled
  };
  // Hands the mutex to the first fiber, or frees it.
  passed pass() noexcept {
    const base::locked guard{waiting_.lock()};
    if (state_.load(base::relaxed) == kFree)
      return {};
    Fiber* const next = waiting_.queue().take(claimable{});
    if (next == nullptr)
      state_.store(kFree, base::release); // R
    else if (waiting_.queue().empty())
      state_.store(kHeld, base::relaxed);
    return {true, next};
  }

  // A fiber that was cancelled, and does not get the mutex.
  void leave(Fiber* fiber) noexcept {
    const base::locked guard{waiting_.lock()};
    waiting_.queue().remove(fiber);
    std::uint32_t wanted = kWanted;
    if (waiting_.queue().empty()) // the holder may have freed it
      state_.compare_exchange_strong(wanted, kHeld, base::relaxed, base::relaxed);
  }

private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kWanted = 2;

  base::atomic<std::uint32_t> state_{kFree};
  wait_list<Fiber> waiting_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
