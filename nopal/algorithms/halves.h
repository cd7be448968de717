// SPDX-License-Identifier: MIT
// What the two halves of a split loop know of each other. A child runs the lower half; the
// continuation of its fork is the upper half, which runs behind the child, or beside it on another
// thread.
//
// Contract:  where the upper half finds that the lower one has ended, it sees all that the lower
//            half did. A lower half that does not see yet that the upper one has begun goes on as
//            if its fork was open, and looks again at its next piece.
// Ownership: begun_ is written by the upper half, ended_ by the lower one.
// Orders:
//   E  end_lower: store release. Partner: the acquire of lower_ended. The upper half then goes on
//      with what the lower one has computed, without a join. begun_ carries no data, so its orders
//      are relaxed.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

class halves {
public:
  // The upper half.
  void begin_upper() noexcept { begun_.store(true, base::relaxed); }
  bool lower_ended() const noexcept {
    NOPAL_IF_SEEN(if (base::are_apart()) return false); // as if beside it (base/races.h)
    return ended_.load(base::acquire);                  // E
  }

  // The lower half.
  bool upper_begun() const noexcept { return begun_.load(base::relaxed); }
  void end_lower() noexcept { ended_.store(true, base::release); } // E

private:
  base::atomic<bool> begun_{false};
  base::atomic<bool> ended_{false};
};

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
