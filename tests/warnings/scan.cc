// SPDX-License-Identifier: MIT
// Scans.
#include "nopal/scan.h"

#include <functional>
#include <string>
#include <vector>

bool scan_is_right() {
  std::vector<short> all(1000, 1);
  std::vector<long> sums(1000);
  nopal::inclusive_scan(all, all.begin());
  nopal::exclusive_scan(all, sums.begin(), 0L);
  nopal::inclusive_scan(all.begin(), all.end(), sums.begin(), std::plus<>{}, std::identity{}, 1L);
  const std::vector<std::string> words{"a", "bc"};
  std::vector<std::size_t> at(2);
  nopal::exclusive_scan(words, at.begin(), std::size_t{0}, std::plus<>{}, &std::string::size);
  return all[999] == 1000 && sums[0] == 2 && at[1] == 1;
}
