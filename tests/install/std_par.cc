// SPDX-License-Identifier: MIT
// A program with the standard's parallel algorithms, which names no other library.
#include <algorithm>
#include <cstdio>
#include <execution>
#include <functional>
#include <numeric>
#include <vector>

int main() {
  std::vector<long> values(1000000);
  std::iota(values.begin(), values.end(), 0L);
  std::sort(std::execution::par, values.begin(), values.end(), std::greater<>{});
  const long sum = std::reduce(std::execution::par, values.begin(), values.end());
  const bool sorted = std::is_sorted(values.begin(), values.end(), std::greater<>{});
  std::printf("sum %ld, %s\n", sum, sorted ? "sorted" : "not sorted");
  return sorted ? 0 : 1;
}
