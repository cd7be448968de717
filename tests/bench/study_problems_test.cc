// SPDX-License-Identifier: MIT
// The problems that only studies run verify themselves and state their forks exactly.
#include "tests/bench/counting.h"

#include "bench/problems/arms.h"
#include "bench/problems/captives.h"
#include "bench/problems/comparing.h"
#include "bench/problems/regions.h"
#include "bench/problems/side_by_side.h"
#include "bench/problems/suspended.h"

#include <gtest/gtest.h>

namespace bench {

template <class Problem> static bool verifies(Problem& problem) {
  problem.prepare();
  EXPECT_FALSE(problem.verify()) << Problem::name << " verifies before it has run";
  forks_counted = 0;
  problem.compute();
  EXPECT_EQ(forks_counted, problem.forks()) << Problem::name;
  return problem.verify();
}

TEST(study_problems, suspended) {
  suspended_problem problem(size::test);
  EXPECT_TRUE(verifies(problem));
}

TEST(study_problems, captives) {
  for (const long chains : {1L, 2L}) {
    captives_problem problem(size::test, chains);
    EXPECT_TRUE(verifies(problem));
  }
}

TEST(study_problems, comparing) {
  comparing_problem problem(size::test);
  EXPECT_TRUE(verifies(problem));
}

TEST(study_problems, arms_for_as_many_workers_as_asked) {
  for (const long workers : {3L, 5L}) {
    arms_problem problem(size::test, workers);
    EXPECT_EQ(problem.n(), workers);
    EXPECT_TRUE(verifies(problem));
  }
  EXPECT_THROW(arms_problem(size::test, 2), std::invalid_argument);
  EXPECT_THROW(arms_problem(size::test, 65), std::invalid_argument);
}

TEST(study_problems, regions_free_and_affine) {
  for (const long n : {regions_problem::free, regions_problem::affine}) {
    regions_problem problem(size::test, n);
    EXPECT_EQ(problem.n(), n);
    EXPECT_TRUE(verifies(problem));
  }
  EXPECT_THROW(regions_problem(size::test, 3), std::invalid_argument);
}

TEST(study_problems, side_by_side_runs_as_many_threads_as_asked) {
  for (const long threads : {1L, 2L, 5L}) {
    side_by_side_problem problem(size::test, threads);
    EXPECT_EQ(problem.n(), threads);
    EXPECT_TRUE(verifies(problem));
  }
  EXPECT_THROW(side_by_side_problem(size::test, 0), std::invalid_argument);
  EXPECT_THROW(side_by_side_problem(size::test, 1025), std::invalid_argument);
}

} // namespace bench
