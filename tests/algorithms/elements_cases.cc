// SPDX-License-Identifier: MIT
// Loops over elements, and questions about them, beside what std has.
#include "nopal/algorithm.h"
#include "tests/algorithms/support.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <numeric>
#include <vector>

namespace nopal_test {
namespace {

TEST(elements, transform) {
  for (const std::size_t size : sizes()) {
    const std::vector<record> all = records(size, 1000);
    std::vector<long> expected(size);
    std::vector<long> out(size);
    const auto square = [](int each) { return long{each} * each; };
    std::ranges::transform(all, expected.begin(), square, &record::key);
    ASSERT_EQ(nopal::transform(all, out.begin(), square, &record::key), out.end());
    ASSERT_EQ(out, expected);
    std::ranges::transform(expected, out, expected.begin(), std::minus<>{});
    nopal::transform(out, out, out.begin(), std::minus<>{}); // in place
    ASSERT_EQ(out, expected);
  }
}

TEST(elements, of_the_shorter_of_two_ranges) {
  const std::vector<int> all = numbers(3000);
  std::deque<int> some(all.begin(), all.begin() + 1234);
  std::vector<int> out(3000);
  EXPECT_EQ(nopal::transform(all, some, out.begin(), std::minus<>{}) - out.begin(), 1234);
  EXPECT_EQ(nopal::transform(some, all, out.begin(), std::minus<>{}) - out.begin(), 1234);
}

TEST(elements, fill_generate_and_copy) {
  for (const std::size_t size : sizes()) {
    std::vector<int> all(size);
    nopal::fill(all, 5);
    ASSERT_EQ(all, std::vector<int>(size, 5));
    std::atomic<int> calls{0};
    nopal::generate(all, [&calls] { return calls.fetch_add(1); });
    std::vector<int> copied(size);
    ASSERT_EQ(nopal::copy(all, copied.begin()), copied.end());
    ASSERT_EQ(copied, all);
    std::ranges::sort(all);
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_EQ(all[i], static_cast<int>(i));
    const auto half = static_cast<std::ptrdiff_t>(size / 2);
    ASSERT_EQ(nopal::for_each_n(all.begin(), half, [](int& each) { each = -1; }),
              all.begin() + half);
    ASSERT_EQ(std::ranges::count(all, -1), half);
  }
}

TEST(elements, transform_reduce) {
  for (const std::size_t size : sizes()) {
    const std::vector<record> all = records(size, 1000);
    long expected = 4;
    for (const record& each : all)
      expected += each.key;
    ASSERT_EQ(nopal::transform_reduce(all, 4L, std::plus<>{}, &record::key), expected);
  }
}

TEST(elements, counts_and_extremes) {
  for (const std::size_t size : sizes())
    for (const int below : {1, 10, 100000}) {
      const std::vector<record> all = records(size, below);
      const auto is_wanted = [below](int each) { return each > below / 3; };
      ASSERT_EQ(nopal::count_if(all, is_wanted, &record::key),
                std::ranges::count_if(all, is_wanted, &record::key));
      ASSERT_EQ(nopal::count(all, below / 2, &record::key),
                std::ranges::count(all, below / 2, &record::key));
      ASSERT_EQ(nopal::min_element(all, {}, &record::key),
                std::ranges::min_element(all, {}, &record::key));
      ASSERT_EQ(nopal::max_element(all, std::less<>{}, &record::key),
                std::ranges::max_element(all, {}, &record::key));
      if (size == 0)
        continue;
      const auto expected = std::ranges::minmax(all, {}, &record::key);
      const auto [low, high] = nopal::min_max(all, {}, &record::key);
      ASSERT_EQ(low, expected.min);
      ASSERT_EQ(high, expected.max);
      ASSERT_EQ(nopal::min(all, {}, &record::key), std::ranges::min(all, {}, &record::key));
      ASSERT_EQ(nopal::max(all, {}, &record::key), std::ranges::max(all, {}, &record::key));
      ASSERT_EQ(nopal::max(std::vector<record>(all), {}, &record::key).key, high.key);
    }
}

TEST(elements, questions) {
  for (const std::size_t size : sizes()) {
    const std::vector<int> all = numbers(size, 1000);
    for (const int limit : {0, 1, 500, 999, 1000}) {
      const auto is_less = [limit](int each) { return each < limit; };
      ASSERT_EQ(nopal::any_of(all, is_less), std::ranges::any_of(all, is_less));
      ASSERT_EQ(nopal::all_of(all, is_less), std::ranges::all_of(all, is_less));
      ASSERT_EQ(nopal::none_of(all, is_less), std::ranges::none_of(all, is_less));
    }
    std::deque<int> same(all.begin(), all.end());
    ASSERT_TRUE(nopal::equal(all, same));
    if (size == 0)
      continue;
    same[size / 2] += 1;
    ASSERT_FALSE(nopal::equal(all, same));
    same.pop_back();
    ASSERT_FALSE(nopal::equal(all, same));
  }
  const std::vector<bool> bits{true, false, true}; // no objects in memory
  EXPECT_EQ(nopal::count(bits, true), 2);
  EXPECT_FALSE(nopal::min(bits));
}

} // namespace
} // namespace nopal_test
