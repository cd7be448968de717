// SPDX-License-Identifier: MIT
// Fibers that are cancelled together.
#include "nopal/cancelable.h"

bool cancelable_is_right() {
  bool begun = true;
  nopal::run([&begun] {
    nopal::cancelable all;
    nopal::cancelable part{all};
    nopal::spawn(part, [&begun] { begun = true; });
    all.cancel();
  });
  return begun;
}
