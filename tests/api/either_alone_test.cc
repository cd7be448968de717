// SPDX-License-Identifier: MIT
// Parallel-or in processes of their own: with forced steals, and on one worker.
#include "nopal/preemption.h"
#include "tests/api/queens.h"
#include "tests/api/support.h"

namespace nopal_test {
namespace {

int endless(std::atomic<int>& begun) {
  begun += 1;
  for (;;)
    nopal::poll();
}

TEST(either, finds_a_solution_of_the_queens_where_steals_are_forced) {
  EXPECT_EQ(boards_solved(2, 100), 100u);
  EXPECT_EQ(boards_solved(4, 100), 100u);
}

TEST(either, lets_no_endless_alternative_starve_another_on_one_worker) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 1, .tick = 1});
              std::atomic<int> begun{0};
              int sum = 0;
              for (int round = 0; round < 3; ++round)
                sum += nopal::either([&] { return endless(begun); }, [&] { return endless(begun); },
                                     [] { return 4; })
                           .value();
              return sum + begun;
            }),
            18u);
}

} // namespace
} // namespace nopal_test
