// SPDX-License-Identifier: MIT
// Calls that block.
#include "nopal/blocking.h"

bool blocking_is_right() {
  int set = 0;
  nopal::blocking([&set] { set = 1; });
  return nopal::blocking([] { return 2; }) == 2 && set == 1;
}
