// SPDX-License-Identifier: MIT
// Loops and reductions: every index once, in every type, and the same bits for any number of
// workers.
#include "nopal/loop.h"
#include "tests/api/support.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace nopal_test {

template <class I> class integral : public testing::Test {};
using integral_types = testing::Types<signed char, unsigned char, char, short, unsigned short, int,
                                      unsigned, long, unsigned long, long long, unsigned long long>;
TYPED_TEST_SUITE(integral, integral_types);

// How often each of [first, last) was visited, seen from `first`.
template <class I> std::vector<int> visits(I first, I last, std::size_t grain = 0) {
  __extension__ using wide = __int128;
  const wide count = wide{last} - wide{first};
  std::vector<int> seen(count > 0 ? static_cast<std::size_t>(count) : 0);
  nopal::for_index(
      first, last,
      [&seen, first](I i) {
        __atomic_fetch_add(&seen.at(static_cast<std::size_t>(wide{i} - wide{first})), 1,
                           __ATOMIC_RELAXED);
      },
      grain);
  return seen;
}

TYPED_TEST(integral, nothing_where_the_range_is_empty) {
  using limits = std::numeric_limits<TypeParam>;
  int calls = 0;
  const auto count = [&calls](TypeParam) { __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED); };
  nopal::for_index(TypeParam{5}, TypeParam{5}, count);
  nopal::for_index(TypeParam{6}, TypeParam{5}, count);
  nopal::for_index(limits::max(), limits::min(), count);
  EXPECT_EQ(calls, 0);
}

TYPED_TEST(integral, each_index_once) {
  using limits = std::numeric_limits<TypeParam>;
  for (const int count : {1, 2, 3, 7, 100}) {
    const std::vector<int> once(static_cast<std::size_t>(count), 1);
    const auto upper = static_cast<TypeParam>(count);
    for (const std::size_t grain : {0u, 1u, 3u, 1000u}) {
      EXPECT_EQ(visits<TypeParam>(0, upper, grain), once);
      EXPECT_EQ(
          visits<TypeParam>(static_cast<TypeParam>(limits::max() - upper), limits::max(), grain),
          once);
      EXPECT_EQ(
          visits<TypeParam>(limits::min(), static_cast<TypeParam>(limits::min() + upper), grain),
          once);
    }
  }
}

TYPED_TEST(integral, all_of_a_small_type) {
  if constexpr (sizeof(TypeParam) <= 2) {
    using limits = std::numeric_limits<TypeParam>;
    const std::size_t all = (std::size_t{1} << (8 * sizeof(TypeParam))) - 1;
    EXPECT_EQ(visits(limits::min(), limits::max()), std::vector<int>(all, 1));
  } else {
    EXPECT_EQ(visits<TypeParam>(0, 4000), std::vector<int>(4000, 1));
  }
}

TEST(loop, across_zero) { EXPECT_EQ(visits(-500, 600), std::vector<int>(1100, 1)); }

TEST(loop, grain_is_respected) {
  // With a grain of n or more, all iterations run in order on one strand.
  std::vector<int> order;
  nopal::for_index(0, 1000, [&order](int i) { order.push_back(i); }, 1000);
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(loop, for_each_element) {
  std::vector<long> values(3000);
  std::iota(values.begin(), values.end(), 0);
  nopal::for_each(values, [](long& value) { value *= 2; });
  nopal::for_each(values.begin() + 1, values.end(), [](long& value) { value += 1; }, 7);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<long>(2 * i) + (i > 0 ? 1 : 0));
  int array[5] = {1, 2, 3, 4, 5};
  nopal::for_each(array, [](int& value) { value = -value; });
  EXPECT_EQ(array[4], -5);
  nopal::for_each(std::vector<int>{}, [](int) { ADD_FAILURE() << "called for no element"; });
}

TEST(loop, nested) {
  const int n = repetitions(200, 20);
  std::vector<std::vector<int>> table(static_cast<std::size_t>(n),
                                      std::vector<int>(static_cast<std::size_t>(n)));
  nopal::for_index(0, n, [&](int i) {
    nopal::for_index(0, n, [&, i](int k) {
      table[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] += i * n + k;
    });
  });
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      ASSERT_EQ(table[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)], i * n + k);
}

TEST(reduce, keeps_the_order) {
  const auto letters = [](int count, std::size_t grain) {
    return nopal::reduce(
        0, count, std::string{},
        [](std::string a, const std::string& b) { return std::move(a) + b; },
        [](int i) { return std::string(1, static_cast<char>('a' + i % 26)); }, grain);
  };
  std::string expected;
  for (int i = 0; i < 700; ++i)
    expected += static_cast<char>('a' + i % 26);
  for (const std::size_t grain : {0u, 1u, 2u, 50u, 5000u})
    ASSERT_EQ(letters(700, grain), expected) << "grain " << grain;
  EXPECT_EQ(letters(0, 0), "");
  EXPECT_EQ(letters(1, 0), "a");
}

TEST(reduce, of_an_empty_range_is_the_initial_value) {
  EXPECT_EQ(nopal::reduce(3, 3, 17, std::plus<>{}, [](int i) { return i; }), 17);
}

TEST(reduce, of_values_that_only_move) {
  const auto sum = nopal::reduce(
      0, 1000, std::make_unique<long>(0),
      [](std::unique_ptr<long> a, std::unique_ptr<long> b) {
        *a += *b;
        return a;
      },
      [](int i) { return std::make_unique<long>(i); });
  EXPECT_EQ(*sum, 499500);
}

TEST(invoke, returns_all_results_in_order) {
  for (int i = 0; i < repetitions(500, 20); ++i) {
    auto [number, nothing, text, owned] =
        nopal::invoke([] { return fib(7); }, [] { fib(3); }, [] { return std::string("text"); },
                      [] { return std::make_unique<int>(4); });
    static_assert(std::is_same_v<decltype(nothing), std::monostate>);
    ASSERT_EQ(number, 13);
    ASSERT_EQ(text, "text");
    ASSERT_EQ(*owned, 4);
  }
}

} // namespace nopal_test
