// SPDX-License-Identifier: MIT
// Loops over elements, and questions about them.
#include "nopal/algorithm.h"

#include <functional>
#include <vector>

namespace {
struct item {
  short weight = 1;
};
} // namespace

bool algorithm_is_right() {
  std::vector<item> items(100);
  std::vector<short> out(100);
  nopal::transform(
      items, out.begin(), [](short x) { return static_cast<short>(x + 1); }, &item::weight);
  nopal::transform(out, out, out.begin(), [](short x, short) { return x; });
  nopal::for_each_n(out.begin(), 5, [](short& x) { x = 3; });
  std::vector<short> copied(100);
  nopal::copy(out, copied.begin());
  const bool same = nopal::equal(out, copied);
  nopal::fill(copied, short{7});
  nopal::generate(copied, [] { return short{9}; });
  const auto is_three = [](short x) { return x == 3; };
  const auto [low, high] = nopal::min_max(out);
  return same && nopal::transform_reduce(items, 0, std::plus<>{}, &item::weight) == 100 &&
         nopal::count_if(out, is_three) == 5 && nopal::count(out, 3) == 5 && nopal::min(out) == 2 &&
         nopal::max(out) == 3 && nopal::any_of(out, is_three) && !nopal::all_of(out, is_three) &&
         !nopal::none_of(out, is_three) && low == 2 && high == 3 &&
         nopal::max_element(out) == out.begin() &&
         nopal::min_element(items, {}, &item::weight) == items.begin();
}
