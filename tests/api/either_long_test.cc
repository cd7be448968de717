// SPDX-License-Identifier: MIT
// Parallel-or ten thousand times under forced steals.
#include "tests/api/queens.h"

namespace nopal_test {
namespace {

TEST(either_long, finds_a_solution_of_the_queens_each_time) {
  for (const unsigned workers : {2u, 3u, 4u, 8u})
    EXPECT_EQ(boards_solved(workers, 2500), 2500u) << workers;
}

} // namespace
} // namespace nopal_test
