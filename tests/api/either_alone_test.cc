// SPDX-License-Identifier: MIT
// Parallel-or in processes of their own: with forced steals, and on one worker.
#include "nopal/preemption.h"
#include "tests/api/endless.h"
#include "tests/api/queens.h"
#include "tests/api/support.h"

namespace nopal_test {
namespace {

TEST(either, finds_a_solution_of_the_queens_where_steals_are_forced) {
  EXPECT_EQ(boards_solved(2, 100), 100u);
  EXPECT_EQ(boards_solved(4, 100), 100u);
}

TEST(either, lets_no_endless_alternative_starve_another_on_one_worker) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 1, .tick = 1});
              int sum = 0;
              for (int round = 0; round < 3; ++round)
                sum += nopal::either([]() -> int { poll_for_ever(); },
                                     []() -> int { poll_for_ever(); }, [] { return 4; })
                           .value();
              return sum;
            }),
            12u);
}

// An alternative that begins two such alternatives in each of its turns.
int endless_pairs(std::atomic<int>& others, int depth) {
  const auto next = [&others, depth] { return endless_pairs(others, depth + 1); };
  for (;;) {
    others += 1;
    nopal::poll();
    if (depth < 40)
      nopal::either(next, next);
  }
}

// Ends after `turns` turns, between which the others have run.
int take_turns(const std::atomic<int>& others, int turns) {
  for (int seen = others; turns > 0; nopal::poll())
    if (others != seen) {
      seen = others;
      --turns;
    }
  return 4;
}

TEST(either, lets_alternatives_that_begin_others_starve_none_on_one_worker) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 1, .tick = 1});
              std::atomic<int> others{0};
              return nopal::either([&] { return endless_pairs(others, 0); },
                                   [&] { return take_turns(others, 60); })
                  .value();
            }),
            4u);
}

} // namespace
} // namespace nopal_test
