// SPDX-License-Identifier: MIT
// What the sorts that divide their keys do serially, once few are left.
#pragma once

#include "bench/base_case.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bench {

inline void sort_by_insertion(std::int32_t* first, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 1; i < count; ++i) {
    const std::int32_t moved = first[i];
    std::ptrdiff_t at = i;
    for (; at > 0 && moved < first[at - 1]; --at)
      first[at] = first[at - 1];
    first[at] = moved;
  }
}

BENCH_BASE_CASE inline void merge_serially(const std::int32_t* x, const std::int32_t* x_end,
                                           const std::int32_t* y, const std::int32_t* y_end,
                                           std::int32_t* out) {
  // Without branches: which one is next cannot be foreseen.
  while (x != x_end && y != y_end) {
    const bool of_y = *y < *x;
    *out++ = of_y ? *y : *x;
    x += !of_y;
    y += of_y;
  }
  out = std::copy(x, x_end, out);
  std::copy(y, y_end, out);
}

} // namespace bench
