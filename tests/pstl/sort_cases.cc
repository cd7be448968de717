// SPDX-License-Identifier: MIT
// Sorting, merging and sets among the standard's parallel algorithms: stable where they promise it,
// for numbers, strings, and elements that only move.
#include "tests/pstl/inputs.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <utility>

namespace nopal_test {
namespace {

template <class T> class std_par_order : public testing::Test {};
using value_types = testing::Types<int, std::string>;
TYPED_TEST_SUITE(std_par_order, value_types);

TYPED_TEST(std_par_order, sort) {
  for_inputs<TypeParam>([](const auto& policy, const auto& in) {
    auto mine = in;
    std::sort(policy, mine.begin(), mine.end());
    EXPECT_EQ(mine, sorted(in));
    std::sort(policy, mine.begin(), mine.end(), std::greater<>{});
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end(), std::greater<>{}));
  });
}

TYPED_TEST(std_par_order, partial_sort) {
  for_inputs<TypeParam>([](const auto& policy, const auto& in) {
    const auto expected = sorted(in);
    for (const std::size_t wanted : {in.size() / 100, in.size() / 2, in.size()}) {
      const auto first = static_cast<std::ptrdiff_t>(wanted);
      auto mine = in;
      std::partial_sort(policy, mine.begin(), mine.begin() + first, mine.end());
      EXPECT_TRUE(std::equal(mine.begin(), mine.begin() + first, expected.begin()));
      EXPECT_EQ(sorted(mine), expected);
      mine = in;
      std::nth_element(policy, mine.begin(), mine.begin() + first, mine.end());
      if (wanted < in.size()) {
        EXPECT_EQ(mine[wanted], expected[wanted]);
      }
      EXPECT_EQ(sorted(mine), expected);
      std::vector<TypeParam> out(wanted);
      EXPECT_EQ(std::partial_sort_copy(policy, in.begin(), in.end(), out.begin(), out.end()),
                out.end());
      EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin()));
    }
    std::vector<TypeParam> more(in.size() + 5);
    EXPECT_EQ(std::partial_sort_copy(policy, in.begin(), in.end(), more.begin(), more.end()),
              more.end() - 5);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), more.begin()));
  });
}

// By a heap for each piece, whose work grows with the number of pieces: 1.6 comparisons an element
// serially, 2.9 with four pieces, and 12.8 with 32.
TEST(std_par_partial_sort, compares_not_much_more_than_a_serial_one) {
  constexpr std::size_t count = 100'000;
  std::vector<std::uint32_t> all(count);
  std::mt19937 random{3};
  for (std::uint32_t& each : all)
    each = static_cast<std::uint32_t>(random());
  std::atomic<std::size_t> comparisons{0};
  std::partial_sort(std::execution::par, all.begin(), all.begin() + count / 100, all.end(),
                    [&comparisons](std::uint32_t x, std::uint32_t y) {
                      comparisons.fetch_add(1, std::memory_order_relaxed);
                      return x < y;
                    });
  EXPECT_LE(comparisons, 8 * count);
}

// Equal keys, told apart by where they stood.
struct placed {
  std::string key;
  std::size_t place;
  bool operator==(const placed&) const = default;
};
constexpr auto by_key = [](const placed& a, const placed& b) { return a.key < b.key; };

std::vector<placed> with_places(const std::vector<std::string>& in, std::size_t first = 0) {
  std::vector<placed> made;
  for (const std::string& key : in)
    made.push_back({key, first + made.size()});
  return made;
}

TEST(std_par, stable_sort_is_stable) {
  for_inputs<std::string>([](const auto& policy, const auto& in) {
    auto mine = with_places(in);
    auto expected = mine;
    std::stable_sort(policy, mine.begin(), mine.end(), by_key);
    std::stable_sort(expected.begin(), expected.end(), by_key);
    EXPECT_EQ(mine, expected);
  });
}

TEST(std_par, merges_are_stable) {
  for_inputs<std::string>([](const auto& policy, const auto& in) {
    const std::size_t left = in.size() / 3;
    auto both = with_places(in);
    const auto middle = both.begin() + static_cast<std::ptrdiff_t>(left);
    std::stable_sort(both.begin(), middle, by_key);
    std::stable_sort(middle, both.end(), by_key);
    std::vector<placed> expected(in.size());
    std::merge(both.begin(), middle, middle, both.end(), expected.begin(), by_key);
    std::vector<placed> out(in.size());
    EXPECT_EQ(std::merge(policy, both.begin(), middle, middle, both.end(), out.begin(), by_key),
              out.end());
    EXPECT_EQ(out, expected);
    std::inplace_merge(policy, both.begin(), middle, both.end(), by_key);
    EXPECT_EQ(both, expected);
  });
}

TEST(std_par, sorts_what_only_moves) {
  for_inputs<int>([](const auto& policy, const auto& in) {
    std::deque<std::unique_ptr<int>> mine;
    for (const int value : in)
      mine.push_back(std::make_unique<int>(value));
    const auto by_value = [](const auto& a, const auto& b) { return *a < *b; };
    std::sort(policy, mine.begin(), mine.end(), by_value);
    std::vector<int> values;
    for (const auto& each : mine)
      values.push_back(*each);
    EXPECT_EQ(values, sorted(in));
  });
}

TEST(std_par, compares_by_value_without_moving) {
  for_inputs<std::string>([](const auto& policy, const auto& in) {
    auto mine = in;
    std::stable_sort(policy, mine.begin(), mine.end(),
                     [](std::string a, std::string b) { return a < b; });
    EXPECT_EQ(mine, sorted(in));
  });
}

// The four operations on sets, into `out`: where each ended.
template <class A, class Out, class... Policy>
std::vector<std::size_t> sets(const A& a, const A& b, Out& out, const Policy&... policy) {
  std::vector<std::size_t> ends;
  const auto keep = [&](auto call) {
    Out part(a.size() + b.size());
    const auto end = call(policy..., a.begin(), a.end(), b.begin(), b.end(), part.begin());
    part.erase(end, part.end());
    ends.push_back(part.size());
    out.insert(out.end(), part.begin(), part.end());
  };
  keep([](const auto&... with) { return std::set_union(with...); });
  keep([](const auto&... with) { return std::set_intersection(with...); });
  keep([](const auto&... with) { return std::set_difference(with...); });
  keep([](const auto&... with) { return std::set_symmetric_difference(with...); });
  return ends;
}

TYPED_TEST(std_par_order, sets) {
  for_inputs<TypeParam>([](const auto& policy, const auto& in) {
    const auto a = sorted(in);
    std::vector<TypeParam> b(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(in.size() / 3));
    for (std::size_t i = 0; i < in.size() / 3; ++i)
      b.push_back(made_of<TypeParam>(static_cast<int>(2 * i)));
    b = sorted(b);
    std::vector<TypeParam> mine;
    std::vector<TypeParam> expected;
    EXPECT_EQ(sets(a, b, mine, policy), sets(a, b, expected));
    EXPECT_EQ(mine, expected);
    EXPECT_EQ(sets(b, a, mine, policy), sets(b, a, expected));
    EXPECT_EQ(mine, expected);
  });
}

} // namespace
} // namespace nopal_test
