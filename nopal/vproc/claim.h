// SPDX-License-Identifier: MIT
// The parallel-or cell (nopal/either.h): the first who takes it has it.
//
// Contract:  exactly one `take` returns true. Who sees that it was taken, by a `take` that comes
//            too late, too, sees what was done before.
// Orders:
//   A  take: exchange acq_rel. Partner: itself, and the acquire of taken. The answer itself is
//      written after the take, and read after a join or an event.
// Paper: manticore-icfp08, section 6.4 (markFull).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

class claim {
public:
  bool take() noexcept { return word_.exchange(1, base::acq_rel) == 0; } // A
  bool taken() const noexcept { return word_.load(base::acquire) != 0; } // A

private:
  base::atomic<std::uint32_t> word_{0};
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
