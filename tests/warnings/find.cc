// SPDX-License-Identifier: MIT
// Loops that end early.
#include "nopal/find.h"

#include <vector>

namespace {

struct sum_of {
  long operator()(int i) const { return i; }
  long operator()(long a, long b) const { return a + b; }
};

} // namespace

bool find_is_right() {
  std::vector<int> all(100, 1);
  all[40] = 2;
  const auto is_two = [](int each) { return each == 2; };
  const auto is_one = [](const int& each) { return each == 1; };
  const auto by_index = nopal::for_index_while(0, 100, [](int i) { return i < 50; });
  const auto by_size =
      nopal::for_index_while(std::size_t{0}, all.size(), [](std::size_t) { return true; });
  const auto by_iterator = nopal::for_each_while(all.begin(), all.end(), is_one, 3);
  const auto by_range = nopal::for_each_while(all, is_one);
  static_cast<void>(by_index);
  static_cast<void>(by_size);
  return nopal::find_if(all, is_two) == all.begin() + 40 && by_iterator == by_range &&
         nopal::find_if(all.begin(), all.end(), is_two, 9) == all.begin() + 40;
}
