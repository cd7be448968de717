// SPDX-License-Identifier: MIT
// The first answer of several.
#include "nopal/either.h"
#include "nopal/fiber.h"

#include <optional>

bool either_is_right() {
  const auto some = [] { return std::optional<int>{1}; };
  const auto none = []() -> std::optional<long> { return std::nullopt; };
  bool fine = nopal::either(none, some) == 1L;
  nopal::run([&fine] {
    const auto late = nopal::either([] { return std::optional<int>{2}; }, [] { return 2; });
    fine = fine && late == 2;
  });
  return fine;
}
