// SPDX-License-Identifier: MIT
// Sorts and merges beside those of std.
#include "nopal/algorithms/memory.h"
#include "nopal/sort.h"
#include "tests/algorithms/support.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace nopal_test {
namespace {

template <class T, class... Given> void expect_sorted(std::vector<T> all, const Given&... given) {
  std::vector<T> expected = all;
  std::ranges::stable_sort(expected, given...);
  const auto end = nopal::stable_sort(all, given...);
  ASSERT_EQ(end, all.end());
  ASSERT_TRUE(all == expected) << all.size() << " elements";
}

template <class T, class... Given>
void expect_sorted_in_any_order_of_equals(std::vector<T> all, const Given&... given) {
  const std::uint64_t sum = sum_of(all);
  const auto end = nopal::sort(all, given...);
  ASSERT_EQ(end, all.end());
  ASSERT_TRUE(std::ranges::is_sorted(all, given...)) << all.size() << " elements";
  ASSERT_EQ(sum_of(all), sum) << all.size() << " elements";
}

TEST(sort, of_numbers) {
  for (const std::size_t size : sizes()) {
    expect_sorted(numbers(size));
    expect_sorted(numbers(size, 5));
    expect_sorted(numbers(size), std::greater<>{});
  }
}

// Enough for a distribution of what a distribution has left.
TEST(sort, of_many_numbers) {
  if (steals_forced())
    return;
  for (const int below : {1 << 30, 40000, 1000, 2})
    expect_sorted(numbers(1 << 20, below));
}

// One value is half of all, and others seldom repeat.
TEST(sort, of_one_frequent_value) {
  for (const std::size_t size : some_sizes()) {
    std::vector<int> all = numbers(size);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 2 == 0)
        all[i] = 1 << 29;
      names.push_back(std::to_string(i % 3 == 0 ? all[i] : 7));
    }
    expect_sorted(all);
    expect_sorted(names);
  }
}

// Few values, some of which differ where they are equal for the sort.
TEST(sort, of_numbers_that_are_equal_and_differ) {
  const auto last_digit = [](int x) { return x % 10; };
  for (const std::size_t size : some_sizes())
    for (const int below : {20, 300}) {
      expect_sorted(numbers(size, below), std::greater<>{});
      expect_sorted(numbers(size, below), std::ranges::less{}, last_digit);
      expect_sorted(numbers(size, below),
                    [=](int x, int y) { return last_digit(x) < last_digit(y); });
    }
}

TEST(sort, keeps_the_order_of_equal_elements) {
  for (const std::size_t size : sizes())
    for (const int keys : {1, 7, 300})
      expect_sorted(records(size, keys), std::ranges::less{}, &record::key);
}

TEST(sort, of_what_is_in_order_already_or_the_other_way_round) {
  for (const std::size_t size : some_sizes()) {
    std::vector<int> all(size);
    std::iota(all.begin(), all.end(), 0);
    expect_sorted(all);
    expect_sorted(all, std::greater<>{});
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size / 3), all.end());
    expect_sorted(all);
  }
}

TEST(sort, reads_once_what_is_in_order_either_way_round) {
  std::vector<int> rising(100'000);
  std::iota(rising.begin(), rising.end(), 0);
  const std::vector<int> falling(rising.rbegin(), rising.rend());
  for (const std::vector<int>& all : {rising, falling, std::vector<int>(rising.size())}) {
    std::vector<int> given = all;
    std::atomic<std::size_t> comparisons{0};
    nopal::sort(given, [&comparisons](int x, int y) {
      comparisons.fetch_add(1, std::memory_order_relaxed);
      return x < y;
    });
    EXPECT_TRUE(std::ranges::is_sorted(given));
    EXPECT_LE(comparisons, all.size());
  }
}

TEST(sort, of_small_and_large_elements) {
  struct wide {
    int key;
    int rest[9];
    bool operator==(const wide&) const = default;
  };
  for (const std::size_t size : some_sizes()) {
    std::vector<unsigned char> bytes;
    std::vector<double> fractions;
    std::vector<wide> all;
    std::vector<std::string> names;
    for (const int each : numbers(size)) {
      bytes.push_back(static_cast<unsigned char>(each));
      fractions.push_back(each / 7.0);
      all.push_back({each % 100, {each, each}});
      names.push_back(std::to_string(each) + " is a name that lies on the heap");
    }
    expect_sorted(bytes);
    expect_sorted(fractions);
    expect_sorted(all, std::ranges::less{}, &wide::key);
    expect_sorted(names);
  }
}

TEST(sort, of_other_iterators) {
  for (const std::size_t size : some_sizes()) {
    const std::vector<int> given = numbers(size);
    std::deque<int> all(given.begin(), given.end());
    nopal::sort(all);
    ASSERT_TRUE(std::ranges::is_sorted(all));
    std::vector<int> some = given;
    const std::counted_iterator first{some.begin(), static_cast<std::ptrdiff_t>(size)};
    nopal::sort(first, std::default_sentinel);
    ASSERT_TRUE(std::ranges::equal(some, all));
    const std::vector<int> repeated = numbers(size, 9);
    all.assign(repeated.begin(), repeated.end());
    nopal::sort(all);
    ASSERT_TRUE(std::ranges::is_sorted(all) && std::ranges::is_permutation(all, repeated));
    nopal::sort(std::make_reverse_iterator(some.end()), std::make_reverse_iterator(some.begin()));
    ASSERT_TRUE(std::ranges::is_sorted(some, std::greater<>{}));
  }
}

// Both zeros and both infinities, in any order of equal ones, by each standard comparison.
TEST(sort, of_fractions_of_either_sign) {
  for (const std::size_t size : some_sizes()) {
    std::vector<double> all{0.0,
                            -0.0,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::denorm_min(),
                            std::numeric_limits<double>::lowest()};
    for (const int each : numbers(size))
      all.push_back((each - (1 << 29)) * 1e-3);
    const std::vector<float> small(all.begin(), all.end());
    expect_sorted_in_any_order_of_equals(all);
    expect_sorted_in_any_order_of_equals(all, std::greater<>{});
    expect_sorted_in_any_order_of_equals(all, std::less<double>{});
    expect_sorted_in_any_order_of_equals(
        all, [](double x, double y) { return std::abs(x) < std::abs(y); });
    expect_sorted_in_any_order_of_equals(all, std::ranges::less{}, [](double x) { return -x; });
    expect_sorted_in_any_order_of_equals(small);
    expect_sorted_in_any_order_of_equals(small, std::ranges::greater{});
    expect_sorted(all);
  }
}

// So many that they are sorted where they lie; half of the second are equal.
TEST(sort, of_numbers_where_they_lie) {
  if (steals_forced())
    return;
  std::vector<std::int64_t> all(4'200'011);
  std::mt19937_64 random{5};
  for (std::int64_t& each : all)
    each = static_cast<std::int64_t>(random());
  expect_sorted_in_any_order_of_equals(all);
  for (std::int64_t& each : all)
    each = std::max<std::int64_t>(each % 40'000, -100);
  expect_sorted_in_any_order_of_equals(std::vector<double>(all.begin(), all.end()),
                                       std::greater<>{});
}

TEST(sort, of_elements_that_only_move) {
  for (const std::size_t size : some_sizes()) {
    for (const int keys : {20, 500}) {
      std::vector<owner> all = owners(size, keys);
      std::vector<int> expected = keys_of(all);
      std::ranges::sort(expected);
      nopal::sort(all, {}, &owner::key);
      ASSERT_EQ(keys_of(all), expected);
      ASSERT_EQ(owner::alive(), static_cast<long>(size));
    }
  }
}

// With NaN the order is none; that must not write beyond the range.
TEST(sort, of_what_has_no_order_stays_in_its_range) {
  std::vector<double> all;
  for (const int each : numbers(20000))
    all.push_back(each % 3 == 0 ? std::numeric_limits<double>::quiet_NaN() : each);
  all.insert(all.begin(), -1.0);
  all.push_back(-2.0);
  nopal::sort(all.begin() + 1, all.end() - 1);
  EXPECT_EQ(all.front(), -1.0);
  EXPECT_EQ(all.back(), -2.0);
}

// Wherever a comparison or a move throws, no element is lost or destroyed twice.
TEST(sort, leaves_valid_elements_where_something_throws) {
  for (const std::size_t size : {30u, 3000u, 20000u})
    for (const int below : {1 << 30, 10})
      for (const long calls : {0L, 5L, 2500L, 7000L, 25000L}) {
        {
          std::vector<owner> all = owners(size, below);
          fuse comparisons;
          comparisons.light(calls);
          try {
            nopal::sort(all, [&comparisons](const owner& x, const owner& y) {
              comparisons.burn();
              return x.key() < y.key();
            });
          } catch (const fuse::blown&) {
          }
          ASSERT_EQ(owner::alive(), static_cast<long>(size));
          moves.light(calls);
          try {
            nopal::sort(all, {}, &owner::key);
          } catch (const fuse::blown&) {
          }
          moves.light(std::numeric_limits<long>::max());
          ASSERT_EQ(owner::alive(), static_cast<long>(size));
        }
        ASSERT_EQ(owner::alive(), 0);
      }
}

#if !defined(NOPAL_SERIAL)
// The flags of the mapping that has this address, as /proc/self/smaps tells them.
std::string flags_of_mapping(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps{"/proc/self/smaps"};
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
      found = begin <= wanted && wanted < end;
    else if (found && line.starts_with("VmFlags:"))
      return line + ' ';
  }
  return {};
}

TEST(memory, of_many_elements_is_to_have_huge_pages) {
  const nopal::algorithms::memory<int> many{std::size_t{8} << 20};
  const std::string flags = flags_of_mapping(many.get());
  if (flags.empty() || !std::ifstream{"/sys/kernel/mm/transparent_hugepage/enabled"})
    GTEST_SKIP() << "this kernel has no huge pages, or does not tell";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
}
#endif

TEST(merge, of_numbers_and_of_records) {
  for (const std::size_t size : sizes())
    for (const std::size_t other : {std::size_t{0}, size / 7, size, size + 100}) {
      std::vector<record> low = records(size, 300);
      std::vector<record> high = records(other, 200);
      std::ranges::stable_sort(low, {}, &record::key);
      std::ranges::stable_sort(high, std::ranges::less{}, &record::key);
      for (record& each : high)
        each.place += 1000000;
      std::vector<record> expected(size + other);
      std::vector<record> all(size + other);
      std::ranges::merge(low, high, expected.begin(), {}, &record::key, &record::key);
      const auto end = nopal::merge(low, high, all.begin(), {}, &record::key, &record::key);
      ASSERT_EQ(end, all.end());
      ASSERT_TRUE(all == expected) << size << " and " << other;
    }
}

TEST(merge, has_a_projection_for_each_range) {
  std::vector<int> keys = numbers(9000, 400);
  std::ranges::sort(keys);
  std::vector<record> some;
  for (const int key : keys)
    some.push_back({-key, 0});
  std::vector<int> all(2 * keys.size());
  struct number { // that a record and an int become
    int value;
    number(int given = 0) : value(given) {}
    number(const record& given) : value(-given.key) {}
    bool operator==(const number&) const = default;
  };
  std::vector<number> out(all.size());
  nopal::merge(keys, some, out.begin(), {}, {}, [](const record& each) { return -each.key; });
  for (std::size_t i = 0; i < keys.size(); ++i)
    ASSERT_TRUE(out[2 * i].value == keys[i] && out[2 * i + 1].value == keys[i]);
}

} // namespace
} // namespace nopal_test
