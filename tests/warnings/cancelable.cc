// SPDX-License-Identifier: MIT
// Fibers that are cancelled together.
#include "nopal/cancelable.h"

bool cancelable_is_right() {
  bool cancelled = false;
  nopal::run([&cancelled] {
    nopal::cancelable all;
    nopal::cancelable part{all};
    nopal::spawn(part, [] {});
    all.cancel();
    cancelled = part.cancelled();
  });
  return cancelled;
}
