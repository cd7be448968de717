// SPDX-License-Identifier: MIT
// Several functions at once, with results and without.
#include "nopal/invoke.h"

#include <string>

bool invoke_is_right() {
  int set = 0;
  nopal::invoke([&set] { set = 1; });
  const auto [x, y, none] =
      nopal::invoke([] { return 1L; }, [] { return std::string{"two"}; }, [] {});
  static_cast<void>(none);
  return set == 1 && x == 1 && y == "two";
}
