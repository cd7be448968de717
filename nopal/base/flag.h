// SPDX-License-Identifier: MIT
// A flag that is taken once: a node is cancelled, an alternative has the answer, a future is begun.
//
// Contract:  exactly one `take` returns true. A thread that finds the flag taken (`taken` returns
//            true, or `take` false) sees what its taker did before.
// Orders:
//   A  take: exchange acq_rel. Partner: itself, and the acquire of taken. What the first taker
//      writes afterwards is ordered by other means: a join, an event.
// Paper: manticore-icfp08, section 6.4 (markFull).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

class flag {
public:
  // True: this call is the first.
  bool take() noexcept { return word_.exchange(1, base::acq_rel) == 0; } // A
  bool taken() const noexcept { return word_.load(base::acquire) != 0; } // A
  // Precondition: no other thread uses the flag. Afterwards it is not taken.
  void reset() noexcept { word_.store(0, base::relaxed); }

private:
  atomic<std::uint32_t> word_{0};
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
