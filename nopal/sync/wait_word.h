// SPDX-License-Identifier: MIT
// Where a canceller finds a strand that waits (sched/park.h): a word of the strand's stack.
//
//   0                    no strand of this stack waits so that it can be cancelled
//   strand               this one does; a thread that exchanges this for held may look at it
//   strand, held         a thread holds it, and it does not go on
//   strand, held, again  and another canceller has come since, for which the holder looks once more
//
// Contract:  a strand that waits when a canceller calls `hold`, a full fence after it has written
//            down what is cancelled, is held by that canceller, or by another thread that looks at
//            it after that; or the strand's vproc sees after `publish` what was written before the
//            fence. A held strand does not leave `end`.
// Orders:
//   P  publish: store release. Partner: the CAS acquire of hold: the holder sees the strand's
//      frame.
//   G  the vproc: publish, full fence, then it looks whether anything is cancelled. The canceller:
//      writes that down, full fence, then its load of the word. One of the two sees the other.
//   A  the canceller: the fence G, then the CAS of hold, of a word that another thread holds.
//      Partner: the fetch_and acquire of let_go: the holder's next look sees what was cancelled.
//   E  let_go: CAS release; end: CAS acquire. The strand sees what its holder has done.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

class wait_word {
public:
  // Called by the strand's vproc before others can wake the strand, which is held from now on.
  void begin(const void* strand) noexcept { word_.store(number_of(strand) | kHeld, base::relaxed); }
  // Called after that: cancellers can find the strand, which may have been woken and is not
  // touched. A canceller that came before is forgotten: the caller looks what is cancelled.
  void publish(const void* strand) noexcept {
    word_.store(number_of(strand), base::release); // P
    base::full_fence();                            // G
  }
  // Called instead of `publish` if the strand need not wait.
  void retract() noexcept { word_.store(0, base::relaxed); }

  // Called by a canceller. Returns the strand, which is held now; null: none waits, or another
  // thread holds it, and will look once more.
  void* hold() noexcept {
    std::uintptr_t seen = word_.load(base::relaxed);
    while (seen != 0) {
      const bool held = (seen & kHeld) != 0;
      if (word_.compare_exchange_strong(seen, seen | (held ? kHeld | kAgain : kHeld), base::acquire,
                                        base::relaxed)) // P, A
        return held ? nullptr : reinterpret_cast<void*>(seen);
    }
    return nullptr;
  }
  // False: it is held still, since another canceller has come; the caller looks at it once more.
  bool let_go(const void* strand) noexcept {
    std::uintptr_t expected = number_of(strand) | kHeld;
    if (word_.compare_exchange_strong(expected, number_of(strand), base::release,
                                      base::relaxed)) // E
      return true;
    word_.fetch_and(~kAgain, base::acquire); // A
    return false;
  }

  // Called by the strand when it goes on.
  void end(const void* strand) noexcept {
    for (unsigned tries = 1;; ++tries) {
      std::uintptr_t expected = number_of(strand);
      if (word_.compare_exchange_strong(expected, 0, base::acquire, base::relaxed) || // E
          expected == 0)
        return;
      base::wait_briefly(tries);
    }
  }

private:
  static constexpr std::uintptr_t kHeld = 1;
  static constexpr std::uintptr_t kAgain = 2;
  static std::uintptr_t number_of(const void* strand) noexcept {
    return reinterpret_cast<std::uintptr_t>(strand);
  }

  base::atomic<std::uintptr_t> word_{0};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
