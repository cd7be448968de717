// SPDX-License-Identifier: MIT
// Fibers, and a value that each has for itself.
#include "nopal/fiber.h"

#include <utility>

bool fiber_is_right() {
  long said = 0;
  const int result = nopal::run([&said] {
    nopal::fiber_local<long> own{1};
    nopal::spawn([&own] { own.value() = 2; });
    nopal::fiber made = nopal::make_fiber([] {});
    nopal::fiber moved = std::move(made);
    std::move(moved).start();
    said = own.value();
    return 1;
  });
  nopal::run([] {});
  return result == 1 && said == 1;
}
