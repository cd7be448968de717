// SPDX-License-Identifier: MIT
// Where a strand that waits can be found by who cancels (sched/park.h): a word of its stack.
//
//   0          no strand of this stack waits so that it can be cancelled
//   strand     one does; who exchanges this for held may look at it, and it does not go on
//   held       its low bit is set: somebody has it so
//
// Contract:  a strand that waits when `cancels` begins is seen by `hold`, or the strand sees after
//            `publish` that something is cancelled. A held strand does not leave `end`.
// Orders:
//   P  publish: store release. Partner: the CAS acquire of hold: who holds it sees its frame.
//   G  waits: the parker's fetch_add after P, then its load of sched/cancel.h's count; a
//      canceller's add to that count, then its load of waits. All seq_cst: one of the two sees the
//      other. The loads of who looks acquire: with the number it sees P.
//   E  let_go: store release; end: CAS acquire. The strand sees what its holder has done.
//   N  ended: store release, before any wait of another strand that is a consequence of it.
//   Partner:
//      the acquire load in `any`, which comes before the loads of begun: so the sum never lacks a
//      strand that waits.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/config.h"

#include <cstdint>

namespace nopal::inline NOPAL_ABI::vproc {

// Of one vproc: how many waits have begun and ended there.
class wait_counts {
public:
  void begin() noexcept { begun_.fetch_add(1, base::seq_cst); } // G
  // The vproc's thread.
  void end() noexcept { ended_.store(ended_.load(base::relaxed) + 1, base::release); } // N

  std::uint64_t begun() const noexcept { return begun_.load(base::seq_cst); } // G
  std::uint64_t ended() const noexcept { return ended_.load(base::acquire); } // N

private:
  base::atomic<std::uint64_t> begun_{0};
  base::atomic<std::uint64_t> ended_{0};
};

class wait_word {
public:
  // The strand's vproc, before others can wake the strand: it is held.
  void begin(const void* strand) noexcept { word_.store(number_of(strand) | kHeld, base::relaxed); }
  // After that: it can be found. The strand may have been woken, and is not touched.
  void publish(const void* strand) noexcept { word_.store(number_of(strand), base::release); } // P
  // Instead: it need not wait.
  void retract() noexcept { word_.store(0, base::release); } // P

  // Who cancels: the strand, which is held now; null: none waits, or another one holds it.
  void* hold() noexcept {
    std::uintptr_t seen = word_.load(base::relaxed);
    if (seen == 0 || (seen & kHeld) != 0 ||
        !word_.compare_exchange_strong(seen, seen | kHeld, base::acquire, base::relaxed)) // P
      return nullptr;
    return reinterpret_cast<void*>(seen);
  }
  void let_go(const void* strand) noexcept {
    word_.store(number_of(strand), base::release); // E
  }

  // The strand, when it goes on.
  void end(const void* strand) noexcept {
    for (unsigned tries = 1;; ++tries) {
      std::uintptr_t expected = number_of(strand);
      if (word_.compare_exchange_strong(expected, 0, base::acquire, base::acquire) || // E
          expected == 0)
        return;
      base::wait_briefly(tries);
    }
  }

private:
  static constexpr std::uintptr_t kHeld = 1;
  static std::uintptr_t number_of(const void* strand) noexcept {
    return reinterpret_cast<std::uintptr_t>(strand);
  }

  base::atomic<std::uintptr_t> word_{0};
};

} // namespace nopal::inline NOPAL_ABI::vproc
