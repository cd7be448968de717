// SPDX-License-Identifier: MIT
// Variables that are set once, and futures.
#include "nopal/future.h"
#include "nopal/fiber.h"

#include <string>

bool future_is_right() {
  std::string got;
  nopal::run([&got] {
    nopal::ivar<std::string> once;
    nopal::spawn([&] { once.set("a"); });
    nopal::future1<std::string> later{[] { return std::string{"b"}; }};
    nopal::future1<long> other{[] { return 1; }};
    got = once.get() + later.touch();
    static_cast<void>(other.touch());
  });
  return got == "ab";
}
