// SPDX-License-Identifier: MIT
// What the pieces of docs/processes.md take for the program's own.
#pragma once

#include <array>
#include <numeric>
#include <vector>

inline long sum(const std::vector<long>& numbers, int first, int last) {
  return std::accumulate(numbers.begin() + first, numbers.begin() + last, 0L);
}
