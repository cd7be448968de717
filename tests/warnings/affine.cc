// SPDX-License-Identifier: MIT
// Code that ends on the thread on which it began.
#include "nopal/affine.h"

bool affine_is_right() {
  int set = 0;
  nopal::affine([&set] { set = 1; });
  int& same = nopal::affine([&set]() -> int& { return set; });
  return nopal::affine([] { return 2.5; }) > 2 && &same == &set;
}
