// SPDX-License-Identifier: MIT
// Rounding that a strand takes with it.
#include "nopal/floating_point.h"

#include <cfenv>

bool floating_point_is_right() {
  {
    const nopal::floating_point down{FE_DOWNWARD};
  }
  const nopal::floating_point changed{[] { std::fesetround(FE_TOWARDZERO); }};
  return std::fegetround() == FE_TOWARDZERO;
}
