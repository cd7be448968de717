// SPDX-License-Identifier: MIT
// The standard's parallel algorithms that change nothing.
#include "tests/pstl/inputs.h"

#include <iterator>
#include <type_traits>
#include <utility>

namespace nopal_test {
namespace {

using numbers = std::vector<int>;

template <class Check> void for_numbers(const Check& check) { for_inputs<int>(check); }
constexpr auto is_even = [](int i) { return i % 2 == 0; };
constexpr auto by_seven = [](int i) { return i % 7 == 0; };

TEST(std_par, all_any_and_none) {
  for_numbers([](const auto& policy, const numbers& in) {
    for (const int limit : {0, 3, 1 << 20}) {
      const auto below = [limit](int i) { return i < limit; };
      EXPECT_EQ(std::all_of(policy, in.begin(), in.end(), below),
                std::all_of(in.begin(), in.end(), below));
      EXPECT_EQ(std::any_of(policy, in.begin(), in.end(), below),
                std::any_of(in.begin(), in.end(), below));
      EXPECT_EQ(std::none_of(policy, in.begin(), in.end(), below),
                std::none_of(in.begin(), in.end(), below));
    }
  });
}

TEST(std_par, find) {
  for_numbers([](const auto& policy, const numbers& in) {
    for (const int wanted : {0, 1, 5, 77, -1}) {
      EXPECT_EQ(std::find(policy, in.begin(), in.end(), wanted),
                std::find(in.begin(), in.end(), wanted));
      const auto equal = [wanted](int i) { return i == wanted; };
      EXPECT_EQ(std::find_if(policy, in.begin(), in.end(), equal),
                std::find_if(in.begin(), in.end(), equal));
      EXPECT_EQ(std::find_if_not(policy, in.begin(), in.end(), equal),
                std::find_if_not(in.begin(), in.end(), equal));
    }
  });
}

TEST(std_par, find_parts) {
  const numbers one_of{3, 8, 13};
  for_numbers([&](const auto& policy, const numbers& in) {
    const auto middle = in.begin() + static_cast<std::ptrdiff_t>(in.size() / 2);
    const auto few = middle + std::min<std::ptrdiff_t>(3, in.end() - middle);
    // Vectorised, that of libstdc++ 12 finds the first needle that there is, also serially.
    using policy_type = std::remove_cvref_t<decltype(policy)>;
    if constexpr (!std::is_same_v<policy_type, std::execution::unsequenced_policy> &&
                  !std::is_same_v<policy_type, std::execution::parallel_unsequenced_policy>) {
      EXPECT_EQ(std::find_first_of(policy, in.begin(), in.end(), one_of.begin(), one_of.end()),
                std::find_first_of(in.begin(), in.end(), one_of.begin(), one_of.end()));
    }
    EXPECT_EQ(std::search(policy, in.begin(), in.end(), middle, few),
              std::search(in.begin(), in.end(), middle, few));
    EXPECT_EQ(std::find_end(policy, in.begin(), in.end(), middle, few),
              std::find_end(in.begin(), in.end(), middle, few));
    EXPECT_EQ(std::search_n(policy, in.begin(), in.end(), 2, 1),
              std::search_n(in.begin(), in.end(), 2, 1));
    EXPECT_EQ(std::adjacent_find(policy, in.begin(), in.end()),
              std::adjacent_find(in.begin(), in.end()));
  });
}

TEST(std_par, count) {
  for_numbers([](const auto& policy, const numbers& in) {
    EXPECT_EQ(std::count(policy, in.begin(), in.end(), 1), std::count(in.begin(), in.end(), 1));
    EXPECT_EQ(std::count_if(policy, in.begin(), in.end(), is_even),
              std::count_if(in.begin(), in.end(), is_even));
  });
}

TEST(std_par, comparisons) {
  for_numbers([](const auto& policy, const numbers& in) {
    numbers other = in;
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(std::equal(policy, in.begin(), in.end(), other.begin()),
                std::equal(in.begin(), in.end(), other.begin()));
      EXPECT_EQ(std::equal(policy, in.begin(), in.end(), other.begin(), other.end()),
                std::equal(in.begin(), in.end(), other.begin(), other.end()));
      EXPECT_EQ(std::mismatch(policy, in.begin(), in.end(), other.begin()),
                std::mismatch(in.begin(), in.end(), other.begin()));
      EXPECT_EQ(
          std::lexicographical_compare(policy, in.begin(), in.end(), other.begin(), other.end()),
          std::lexicographical_compare(in.begin(), in.end(), other.begin(), other.end()));
      if (!other.empty())
        other[other.size() * 2 / 3] += 1;
    }
  });
}

TEST(std_par, extrema) {
  for_numbers([](const auto& policy, const numbers& in) {
    EXPECT_EQ(std::min_element(policy, in.begin(), in.end()),
              std::min_element(in.begin(), in.end()));
    EXPECT_EQ(std::max_element(policy, in.begin(), in.end()),
              std::max_element(in.begin(), in.end()));
    EXPECT_EQ(std::minmax_element(policy, in.begin(), in.end()),
              std::minmax_element(in.begin(), in.end()));
  });
}

TEST(std_par, what_is_in_order) {
  for_numbers([](const auto& policy, const numbers& in) {
    numbers up = sorted(in);
    numbers heap = in;
    std::make_heap(heap.begin(), heap.end());
    numbers parted = in;
    std::partition(parted.begin(), parted.end(), is_even);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(std::is_sorted(policy, up.begin(), up.end()), std::is_sorted(up.begin(), up.end()));
      EXPECT_EQ(std::is_sorted_until(policy, up.begin(), up.end()),
                std::is_sorted_until(up.begin(), up.end()));
      EXPECT_EQ(std::is_heap(policy, heap.begin(), heap.end()),
                std::is_heap(heap.begin(), heap.end()));
      EXPECT_EQ(std::is_heap_until(policy, heap.begin(), heap.end()),
                std::is_heap_until(heap.begin(), heap.end()));
      EXPECT_EQ(std::is_partitioned(policy, parted.begin(), parted.end(), is_even),
                std::is_partitioned(parted.begin(), parted.end(), is_even));
      for (numbers* const each : {&up, &heap, &parted})
        if (!each->empty())
          (*each)[each->size() / 2] += 1001;
    }
  });
}

TEST(std_par, includes) {
  for_numbers([](const auto& policy, const numbers& in) {
    const numbers up = sorted(in);
    numbers part;
    std::copy_if(up.begin(), up.end(), std::back_inserter(part), by_seven);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(std::includes(policy, up.begin(), up.end(), part.begin(), part.end()),
                std::includes(up.begin(), up.end(), part.begin(), part.end()));
      part.push_back(1 << 25);
    }
  });
}

} // namespace
} // namespace nopal_test
