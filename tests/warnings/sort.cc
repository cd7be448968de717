// SPDX-License-Identifier: MIT
// Sorts and merges.
#include "nopal/sort.h"

#include <functional>
#include <string>
#include <vector>

bool sort_is_right() {
  std::vector<unsigned char> bytes(3000);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i * 7);
  nopal::sort(bytes);
  std::vector<std::string> names{"b", "a", "c"};
  nopal::stable_sort(names, std::greater<>{});
  nopal::sort(names.begin(), names.end(), {}, &std::string::size);
  std::vector<unsigned char> merged(6000);
  nopal::merge(bytes, bytes, merged.begin());
  return merged[0] == merged[1] && names[0] == "c" && bytes.front() <= bytes.back();
}
