// SPDX-License-Identifier: MIT
// Loops over indices, iterators and ranges.
#include "nopal/loop.h"

#include <cstdint>
#include <vector>

namespace {

// Maps and combines, so that either may come first.
struct added_up {
  template <class I> long operator()(I i) const { return static_cast<long>(i); }
  long operator()(long a, long b) const { return a + b; }
};

template <class I> long add_up(I last) {
  return nopal::reduce(I{0}, last, 0L, added_up{}, added_up{}, 3);
}

} // namespace

bool loop_is_right() {
  std::vector<int> all(100, 1);
  nopal::for_index(0, 100, [&all](int i) { ++all[static_cast<std::size_t>(i)]; });
  nopal::for_index(std::size_t{0}, all.size(), [&all](std::size_t i) { ++all[i]; }, 7);
  nopal::for_each(all, [](int& each) { ++each; });
  nopal::for_each(all.begin(), all.end(), [](int& each) { ++each; }, 10);
  const std::vector<int>& same = all;
  nopal::for_each(same, [](const int&) {});
  return all[99] == 5 && add_up<int>(10) == 45 && add_up<std::uint64_t>(10) == 45 &&
         add_up<short>(10) == 45 && add_up<signed char>(10) == 45 && add_up<long>(10) == 45 &&
         add_up<unsigned char>(10) == 45 && add_up<unsigned>(10) == 45;
}
