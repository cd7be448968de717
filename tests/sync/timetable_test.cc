// SPDX-License-Identifier: MIT
// The timetable: the earliest first, whatever was taken out before.
#include "nopal/sync/timetable.h"

#include "nopal/base/random.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace nopal_test {
namespace {

struct entry {
  nopal::base::atomic<std::uint32_t> place{nopal::sync::timetable<int, entry>::absent};
  int at = 0;
};
using table = nopal::sync::timetable<int, entry>;

TEST(timetable, gives_the_earliest_first) {
  table all;
  entry three[3];
  EXPECT_TRUE(all.add(5, &three[0]));
  EXPECT_TRUE(all.add(3, &three[1]));
  EXPECT_FALSE(all.add(4, &three[2]));
  EXPECT_EQ(all.earliest(), 3);
  EXPECT_EQ(all.take_earliest(), &three[1]);
  EXPECT_EQ(three[1].place.load(nopal::base::relaxed), table::absent);
  EXPECT_EQ(all.take_earliest(), &three[2]);
  EXPECT_EQ(all.take_earliest(), &three[0]);
  EXPECT_TRUE(all.empty());
}

// Beside a multiset, which is right by itself.
TEST(timetable, agrees_with_a_sorted_list_whatever_is_taken_out) {
  nopal::base::random random;
  random.reseed(7, 0);
  table all;
  std::multiset<int> sorted;
  std::vector<entry> entries(300);
  for (int step = 0; step < 20'000; ++step) {
    entry& any = entries[random.below(300)];
    if (any.place.load(nopal::base::relaxed) == table::absent) {
      any.at = static_cast<int>(random.below(1000));
      EXPECT_EQ(all.add(any.at, &any), sorted.empty() || any.at < *sorted.begin());
      sorted.insert(any.at);
    } else if (random.below(2) == 0) {
      sorted.erase(sorted.find(any.at));
      all.remove(&any);
    } else {
      entry* const first = all.take_earliest();
      ASSERT_EQ(first->at, *sorted.begin());
      sorted.erase(sorted.begin());
    }
    ASSERT_EQ(all.empty(), sorted.empty());
    if (!sorted.empty()) {
      ASSERT_EQ(all.earliest(), *sorted.begin());
    }
  }
}

} // namespace
} // namespace nopal_test
