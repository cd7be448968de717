// SPDX-License-Identifier: MIT
// The fibers that are spawned in a region of nopal::run, and what the region waits for.
//
//   running   fibers that have been spawned and not ended, and one for the region's body until that
//             waits
//
// Contract:  whoever sees that end_one returned true sees what all fibers of the computation did.
// Invariant: running >= 1 as long as a strand of the computation exists; only such a strand spawns.
// Ownership: `of` and the counts' first values are the region's; `waiting` is written by the
//            region's body before its end_one; `first` by the fiber whose fail returned 0.
// Orders:
//   E  end_one: fetch_sub acq_rel. Partner: E. The last one acquires what all others released.
//      `begin_one` is relaxed: the one that spawns has not ended.
//   The count of failures is relaxed: what it guards is read after E.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>
#include <exception>

namespace nopal::inline NOPAL_ABI::vproc {

struct fiber;
struct group;

class computation {
public:
  group* of = nullptr;      // the region's; the fibers belong to it
  fiber* waiting = nullptr; // the region's body, once it waits
  std::exception_ptr first; // the exception of the fiber that failed first

  void begin_one() noexcept { running_.fetch_add(1, base::relaxed); }
  // True: it was the last, and nobody else accesses the computation any more but who waits.
  bool end_one() noexcept { return running_.fetch_sub(1, base::acq_rel) == 1; } // E

  // Before the end_one of the fiber that failed.
  void fail(std::exception_ptr thrown) noexcept {
    if (failures_.fetch_add(1, base::relaxed) == 0)
      first = std::move(thrown);
  }
  // After the last has ended.
  std::uint64_t failures() const noexcept { return failures_.load(base::relaxed); }

private:
  base::atomic<std::uint64_t> running_{1};
  base::atomic<std::uint64_t> failures_{0};
};

} // namespace nopal::inline NOPAL_ABI::vproc
