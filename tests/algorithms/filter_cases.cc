// SPDX-License-Identifier: MIT
// What keeps some elements, or divides a range, beside what std has.
#include "nopal/filter.h"
#include "tests/algorithms/support.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <vector>

namespace nopal_test {
namespace {

template <class T> auto below(T limit) {
  return [limit](T each) { return each < limit; };
}

TEST(filter, copy_if) {
  for (const std::size_t size : sizes())
    for (const int limit : {0, 30, 97, 100}) {
      const std::vector<record> all = records(size, 100);
      std::vector<record> expected;
      std::ranges::copy_if(all, std::back_inserter(expected), below(limit), &record::key);
      std::vector<record> kept(size);
      kept.erase(nopal::copy_if(all, kept.begin(), below(limit), &record::key), kept.end());
      ASSERT_EQ(kept, expected) << size;
    }
}

TEST(filter, asks_once_for_each_element) {
  std::vector<int> all = numbers(30000, 100);
  std::vector<unsigned char> asked(all.size());
  std::vector<int> kept(all.size());
  const int* const first = all.data();
  nopal::copy_if(all, kept.begin(), [&](const int& each) {
    ++asked[static_cast<std::size_t>(&each - first)];
    return each < 50;
  });
  ASSERT_EQ(std::ranges::count(asked, 1), 30000);
  const auto keep = [&](const int& each) {
    ++asked[static_cast<std::size_t>(&each - first)];
    return each >= 50;
  };
  nopal::stable_partition(all, keep);
  ASSERT_EQ(std::ranges::count(asked, 2), 30000);
}

TEST(filter, remove_if) {
  for (const std::size_t size : sizes())
    for (const int limit : {0, 30, 97, 100}) {
      std::vector<record> all = records(size, 100);
      std::vector<record> expected = all;
      expected.erase(std::ranges::remove_if(expected, below(limit), &record::key).begin(),
                     expected.end());
      all.erase(nopal::remove_if(all, below(limit), &record::key), all.end());
      ASSERT_EQ(all, expected) << size;
    }
}

TEST(filter, unique_and_unique_copy) {
  for (const std::size_t size : sizes())
    for (const int keys : {1, 2, 9, 1000}) {
      std::vector<record> all = records(size, keys);
      std::vector<record> expected = all;
      expected.erase(std::ranges::unique(expected, {}, &record::key).begin(), expected.end());
      std::vector<record> kept(size);
      kept.erase(nopal::unique_copy(all, kept.begin(), {}, &record::key), kept.end());
      ASSERT_EQ(kept, expected) << size << " of " << keys;
      all.erase(nopal::unique(all, {}, &record::key), all.end());
      ASSERT_EQ(all, expected) << size << " of " << keys;
    }
}

TEST(filter, partition) {
  for (const std::size_t size : sizes())
    for (const int limit : {0, 30, 97, 100}) {
      std::vector<record> all = records(size, 100);
      const std::vector<record> given = all;
      const auto others = nopal::partition(all, below(limit), &record::key);
      ASSERT_TRUE(std::ranges::is_partitioned(all, below(limit), &record::key)) << size;
      ASSERT_EQ(others - all.begin(), std::ranges::count_if(given, below(limit), &record::key));
      std::ranges::sort(all, {}, &record::place);
      ASSERT_EQ(all, given);
    }
}

TEST(filter, stable_partition) {
  for (const std::size_t size : sizes())
    for (const int limit : {0, 30, 97, 100}) {
      std::vector<record> all = records(size, 100);
      std::vector<record> expected = all;
      const auto rest = std::ranges::stable_partition(expected, below(limit), &record::key);
      const auto others = nopal::stable_partition(all, below(limit), &record::key);
      ASSERT_EQ(all, expected) << size;
      ASSERT_EQ(others - all.begin(), rest.begin() - expected.begin());
    }
}

TEST(filter, of_elements_that_only_move) {
  for (const std::size_t size : some_sizes()) {
    std::vector<owner> all = owners(size, 100);
    std::vector<int> expected = keys_of(all);
    std::ranges::stable_partition(expected, below(40));
    nopal::stable_partition(all, below(40), &owner::key);
    ASSERT_EQ(keys_of(all), expected);
    expected.erase(std::ranges::unique(expected).begin(), expected.end());
    all.erase(nopal::unique(all, {}, &owner::key), all.end());
    ASSERT_EQ(keys_of(all), expected);
    nopal::partition(all, below(20), &owner::key);
    ASSERT_TRUE(std::ranges::is_partitioned(all, below(20), &owner::key));
    std::erase_if(expected, below(20));
    all.erase(nopal::remove_if(all, below(20), &owner::key), all.end());
    ASSERT_EQ(all.size(), expected.size());
    ASSERT_EQ(owner::alive(), static_cast<long>(all.size()));
  }
}

TEST(filter, of_a_deque) {
  const std::vector<int> given = numbers(5000, 100);
  std::deque<int> all(given.begin(), given.end());
  std::deque<int> expected = all;
  std::ranges::stable_partition(expected, below(10));
  nopal::stable_partition(all, below(10));
  ASSERT_EQ(all, expected);
  all.erase(nopal::unique(all.begin(), all.end()), all.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  ASSERT_EQ(all, expected);
}

TEST(filter, leaves_valid_elements_where_something_throws) {
  for (const std::size_t size : {100u, 20000u})
    for (const long calls : {0L, 50L, 9000L, 19999L}) {
      std::vector<owner> all = owners(size, 100);
      fuse questions;
      const auto asked = [&questions](const owner& each) {
        questions.burn();
        return each.key() < 50;
      };
      const auto caught = [&](auto algorithm) {
        questions.light(calls);
        bool threw = false;
        try {
          algorithm();
        } catch (const fuse::blown&) {
          threw = true;
        }
        ASSERT_EQ(threw, calls < static_cast<long>(size));
        ASSERT_EQ(owner::alive(), static_cast<long>(size));
      };
      caught([&] { nopal::stable_partition(all, asked); });
      caught([&] { nopal::partition(all, asked); });
      caught([&] { nopal::remove_if(all, asked); });
      moves.light(calls);
      try {
        nopal::stable_partition(all, [](const owner& each) { return each.key() % 2 == 0; });
      } catch (const fuse::blown&) {
      }
      moves.light(std::numeric_limits<long>::max());
      ASSERT_EQ(owner::alive(), static_cast<long>(size));
    }
  ASSERT_EQ(owner::alive(), 0);
}

} // namespace
} // namespace nopal_test
