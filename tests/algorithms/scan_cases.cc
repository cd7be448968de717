// SPDX-License-Identifier: MIT
// Scans beside those of std.
#include "nopal/scan.h"
#include "tests/algorithms/support.h"

#include <bit>
#include <deque>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace nopal_test {
namespace {

TEST(scan, of_integers) {
  for (const std::size_t size : sizes()) {
    const std::vector<int> all = numbers(size, 1000);
    std::vector<long> expected(size);
    std::vector<long> sums(size);
    const auto as_long = [](int each) { return static_cast<long>(each); };
    std::transform_inclusive_scan(all.begin(), all.end(), expected.begin(), std::plus<>{}, as_long);
    ASSERT_EQ(nopal::inclusive_scan(all, sums.begin(), std::plus<>{}, as_long), sums.end());
    ASSERT_EQ(sums, expected);
    std::exclusive_scan(all.begin(), all.end(), expected.begin(), 7L);
    ASSERT_EQ(nopal::exclusive_scan(all, sums.begin(), 7L), sums.end());
    ASSERT_EQ(sums, expected);
    std::inclusive_scan(all.begin(), all.end(), expected.begin(), std::plus<>{}, 9L);
    nopal::inclusive_scan(all.begin(), all.end(), sums.begin(), std::plus<>{}, std::identity{}, 9L);
    ASSERT_EQ(sums, expected);
  }
}

TEST(scan, in_place) {
  for (const std::size_t size : sizes()) {
    std::vector<int> all = numbers(size, 1000);
    std::vector<int> expected(size);
    std::inclusive_scan(all.begin(), all.end(), expected.begin());
    std::vector<int> sums = all;
    nopal::inclusive_scan(sums, sums.begin());
    ASSERT_EQ(sums, expected);
    std::exclusive_scan(all.begin(), all.end(), expected.begin(), 3);
    nopal::exclusive_scan(all, all.begin(), 3);
    ASSERT_EQ(all, expected);
  }
}

// Composition of affine functions: associative, not commutative. Not an integer, so each element
// is combined twice.
struct affine_map {
  unsigned factor = 1;
  unsigned summand = 0;
  bool operator==(const affine_map&) const = default;
};
affine_map behind(const affine_map& first, const affine_map& then) {
  return {first.factor * then.factor, first.summand * then.factor + then.summand};
}

TEST(scan, keeps_the_order_of_what_does_not_commute) {
  for (const std::size_t size : sizes()) {
    std::vector<affine_map> all;
    for (const int each : numbers(size))
      all.push_back({static_cast<unsigned>(each) | 1, static_cast<unsigned>(each) / 3});
    std::vector<affine_map> expected(size);
    std::vector<affine_map> sums(size);
    std::inclusive_scan(all.begin(), all.end(), expected.begin(), behind);
    nopal::inclusive_scan(all, sums.begin(), behind);
    ASSERT_EQ(sums, expected);
    std::exclusive_scan(all.begin(), all.end(), expected.begin(), affine_map{3, 4}, behind);
    nopal::exclusive_scan(all, all.begin(), affine_map{3, 4}, behind);
    ASSERT_EQ(all, expected);
  }
}

TEST(scan, of_strings_into_a_deque) {
  const std::size_t size = 700;
  std::vector<std::string> all;
  for (const int each : numbers(size))
    all.emplace_back(1, static_cast<char>('a' + each % 26));
  std::vector<std::string> expected(size);
  std::deque<std::string> sums(size);
  std::inclusive_scan(all.begin(), all.end(), expected.begin());
  nopal::inclusive_scan(all, sums.begin());
  ASSERT_TRUE(std::equal(sums.begin(), sums.end(), expected.begin()));
}

TEST(scan, throws_what_a_combination_throws) {
  const std::vector<int> all = numbers(20000, 10);
  for (const long calls : {0L, 10L, 9000L, 19000L}) {
    fuse combinations;
    combinations.light(calls);
    std::vector<std::string> sums(all.size());
    const auto combine = [&combinations](const std::string&, const std::string& y) {
      combinations.burn();
      return y;
    };
    EXPECT_THROW(nopal::inclusive_scan(all, sums.begin(), combine,
                                       [](int each) { return std::to_string(each); }),
                 fuse::blown);
  }
}

} // namespace
} // namespace nopal_test
