// SPDX-License-Identifier: MIT
// A computation: all fibers of one call of nopal::run, which waits for them.
//
//   running   fibers that have begun or are to begin, and have not ended; the function that `run`
//             is given is one of them
//
// Contract:  whoever sees that end_one returned true sees what all fibers of the computation did.
// Invariant: running >= 1 as long as a strand of the computation exists; only such a strand spawns.
// Ownership: `group`, `waiting` and `policy` are written before the first fiber begins; `first` by
//            the fiber that was the first to fail.
// Orders:
//   E  end_one: fetch_sub acq_rel. Partner: E. The last one acquires what all others released.
//      `begin_one` is relaxed: the one that spawns has not ended.
//   The count of failures is relaxed: what it guards is read after E.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/sync/provision.h"

#include <cstdint>
#include <exception>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct fiber;
struct group;
struct vproc;

inline constexpr std::size_t most_places = 1024; // as many as workers that can be asked for

// Who is given the fibers of a computation when they are ready.
struct policy {
  // The vproc's number, 0 on a thread that has none.
  using receiver = void (*)(policy*, fiber*, std::uint32_t number) noexcept;

  explicit policy(receiver takes) noexcept : give{takes} {}

  const receiver give; // any thread, as code of no strand
};

class computation {
public:
  struct group* group = nullptr;   // in which `run` was called; the fibers belong to it
  fiber* waiting = nullptr;        // the caller
  struct policy* policy = nullptr; // null: ready fibers are for any vproc
  sync::provisions<vproc, most_places> given;
  base::handed_over<std::exception_ptr> first; // the exception of the fiber that failed first

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
NOPAL_HIDDEN_END
