// SPDX-License-Identifier: MIT
// Work on at most two threads.
#include "nopal/arena.h"

bool arena_is_right() {
  nopal::arena two{2};
  int set = 0;
  two.run([&set] { set = 1; });
  return two.run([] { return 2L; }) == 2 && set == 1;
}
