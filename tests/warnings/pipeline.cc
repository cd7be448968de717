// SPDX-License-Identifier: MIT
// Pipelines.
#include "nopal/pipeline.h"

#include <optional>
#include <string>

bool pipeline_is_right() {
  short next = 0;
  std::string out;
  const auto source = [&next] { return next < 9 ? std::optional<short>{next++} : std::nullopt; };
  nopal::pipeline(4, source,
                  nopal::unordered_stage([](short i) { return static_cast<char>('0' + i); }),
                  nopal::parallel_stage([](char c) { return std::string(1, c); }),
                  nopal::ordered_stage([&out](const std::string& each) { out += each; }));
  int calls = 0;
  nopal::pipeline(
      0, [] { return static_cast<const int*>(nullptr); },
      nopal::ordered_stage([calls](int i) mutable { return calls += i; }));
  return out == "012345678";
}
