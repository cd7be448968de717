// SPDX-License-Identifier: MIT
// How a thread waits for what another process does.
#pragma once

#include "nopal/base/os.h"
#include "nopal/config.h"

#include <algorithm>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Called by a thread that has looked in vain for the n-th time in a row. It waits, the longer the
// more often it has looked, but never more than about a millisecond.
inline void idle_for_a_while(unsigned tries) noexcept {
  constexpr unsigned spins = 64;
  if (tries < spins)
    return base::wait_briefly(tries);
  base::sleep_us(std::min(10u * (tries - spins + 1), 1000u));
}

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
