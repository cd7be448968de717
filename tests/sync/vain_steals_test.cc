// SPDX-License-Identifier: MIT
// When a thief's steals count as vain, and how long it rests: with a clock of the test's own.
#include "nopal/sync/vain_steals.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

struct thief {
  nopal::sync::vain_steals steals;
  std::uint64_t now = 1000;

  // A search of `searched` cycles and a run of `ran` cycles. Returns how long the thief rests
  // before the search.
  unsigned step(std::uint64_t searched, std::uint64_t ran, bool stole = true) {
    const unsigned rest_us = steals.begin_search(now);
    steals.begin_look(now);
    steals.end_look(now += searched, stole);
    steals.begin_run(now);
    now += ran;
    return rest_us;
  }
};

TEST(vain_steals, a_thief_rests_longer_and_longer_up_to_the_bound) {
  thief searcher;
  int before = 0;
  while (searcher.step(40000, 100) == 0)
    ASSERT_LT(++before, 100);
  EXPECT_EQ(before, 32) << "the run of the last one is judged at the next search";
  EXPECT_EQ(searcher.step(40000, 100), 60u);
  unsigned last = 0;
  for (int i = 0; i < 20; ++i)
    last = searcher.step(40000, 100);
  EXPECT_EQ(last, nopal::sync::vain_steals::rest_us_most);
}

TEST(vain_steals, a_longer_run_ends_the_rests) {
  thief searcher;
  for (int i = 0; i < 60; ++i)
    searcher.step(40000, 100);
  searcher.step(40000, 1000000);
  EXPECT_EQ(searcher.step(40000, 100), 0u);
}

TEST(vain_steals, where_a_thief_rests_a_run_that_is_longer_than_a_steal_is_enough) {
  thief searcher;
  for (int i = 0; i < 33; ++i)
    searcher.step(40000, 100);
  ASSERT_NE(searcher.step(5000, 1600), 0u);
  EXPECT_EQ(searcher.step(40000, 100), 0u);
}

TEST(vain_steals, short_runs_that_are_worth_their_search_are_none) {
  thief searcher;
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(searcher.step(1000, 900), 0u);
}

// Steals of this many runs without a search. Whether the thief rests then.
bool rests_after(int runs, std::uint64_t ran, std::uint64_t paused = 0) {
  nopal::sync::vain_steals steals;
  std::uint64_t now = 1000;
  for (int i = 0; i < runs; ++i) {
    if (steals.is_to_measure())
      steals.begin_run_at_once(now);
    now += ran;
    if (steals.measures() && paused != 0) {
      steals.pause(now);
      steals.go_on(now + paused);
    }
    now += paused;
    if (steals.begin_search(now) != 0)
      return true;
  }
  return false;
}

TEST(vain_steals, a_steal_without_a_search_is_in_vain_if_the_run_is_shorter_than_a_steal) {
  EXPECT_TRUE(rests_after(32, 1400)) << "one of eight is measured, and counts for eight";
  EXPECT_FALSE(rests_after(31, 1400));
  EXPECT_FALSE(rests_after(1000, 1600));
}

TEST(vain_steals, slow_paths_are_no_part_of_a_run) {
  EXPECT_TRUE(rests_after(32, 1400, 100'000));
  EXPECT_FALSE(rests_after(1000, 1600, 100'000));
}

TEST(vain_steals, a_run_that_ends_in_a_slow_path_ends_where_that_began) {
  nopal::sync::vain_steals steals;
  steals.begin_run_at_once(1000);
  steals.pause(2400);
  steals.begin_search(1'000'000);
  EXPECT_FALSE(steals.last_was_long());
  EXPECT_FALSE(steals.measures());
}

TEST(vain_steals, a_search_that_found_something_else_is_none) {
  thief searcher;
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(searcher.step(40000, 100, false), 0u);
}

TEST(vain_steals, the_last_stolen_run_may_be_long) {
  thief searcher;
  EXPECT_FALSE(searcher.steals.last_was_long());
  searcher.step(1000, 4000);
  searcher.step(1000, 4000, false); // found something else
  EXPECT_TRUE(searcher.steals.last_was_long());
  searcher.step(1000, 500);
  EXPECT_TRUE(searcher.steals.last_was_long());
  searcher.step(1000, 500);
  EXPECT_FALSE(searcher.steals.last_was_long());
}

} // namespace
} // namespace nopal_test
