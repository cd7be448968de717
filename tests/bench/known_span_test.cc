// SPDX-License-Identifier: MIT
// The closed forms of work and span that the study of the time bound relies on are what a run
// executes.
#include "tests/bench/spanning.h"

#include "bench/problems/known_span.h"

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

namespace bench {

// For the messages of the tests.
static void PrintTo(const span_case& c, std::ostream* out) {
  *out << name_of(c.family) << ", levels " << c.levels << ", grain " << c.grain << ", spine "
       << c.spine << ", repeated " << c.repeat << ", below " << c.pages << " pages and " << c.above
       << " open frames";
}

// Runs it with these weights: what was executed, and the longest path.
static measured run(const span_case& c, long unit_weight, long fork_weight) {
  so_far = {.unit_weight = unit_weight, .fork_weight = fork_weight, .work = {}, .now = {}};
  EXPECT_EQ(execute<measuring>(c), so_far.work.units) << "units are lost on the way";
  return so_far;
}

static void expect_closed_form(const span_case& c) {
  SCOPED_TRACE(testing::PrintToString(c));
  const closed_form known = closed_form_of(c);
  EXPECT_EQ(run(c, 1, 0).work.units, known.work);
  EXPECT_EQ(run(c, 1, 0).work.forks, known.forks);
  EXPECT_EQ(run(c, 1, 0).now.units, known.span);
  EXPECT_EQ(run(c, 0, 1).now.forks, known.path_forks);
  // One path has both: the span in seconds is their weighted sum.
  const measured both = run(c, 50, 1);
  EXPECT_EQ(both.length(both.now), 50 * known.span + known.path_forks);
}

TEST(known_span, closed_forms_are_what_a_run_executes) {
  for (const size chosen : {size::test, size::quick}) {
    for (long n = 1; n <= last_span_case; ++n)
      expect_closed_form(span_case_of(chosen, n));
  }
}

TEST(known_span, closed_forms_hold_at_the_edges) {
  for (const family f : {family::balanced, family::skewed, family::ladder}) {
    for (const int levels : {0, 1, 2, 3, 7}) {
      for (const long grain : {0L, 1L, 5L})
        expect_closed_form({f, levels, grain, 0, 3});
    }
  }
  // Ribs shorter than a piece of the spine end before it.
  for (const long grain : {1L, 4L, 9L})
    expect_closed_form({family::comb, 6, grain, 4, 2});
  expect_closed_form({family::comb, 1, 2, 1, 1});
}

TEST(known_span, parallelism_reaches_from_two_to_a_million) {
  double least = 1e12;
  double most = 0;
  for (std::size_t i = 1; i < span_cases.size(); ++i) {
    const closed_form known = closed_form_of(span_cases[i]);
    const double parallelism = static_cast<double>(known.work) / static_cast<double>(known.span);
    least = std::min(least, parallelism);
    most = std::max(most, parallelism);
    EXPECT_NEAR(static_cast<double>(known.work), 2.1e6, 0.7e6) << "case " << i + 1;
  }
  EXPECT_EQ(least, 2);
  EXPECT_GE(most, 1e6);
}

TEST(known_span, refuses_a_case_that_is_not_there) {
  EXPECT_NO_THROW(known_span_problem(size::test, last_span_case));
  EXPECT_THROW(known_span_problem(size::test, last_span_case + 1), std::invalid_argument);
  EXPECT_THROW(known_span_problem(size::test, 0), std::invalid_argument);
}

TEST(known_span, notices_when_units_are_missing) {
  known_span_problem problem(size::test, 2);
  problem.prepare();
  EXPECT_FALSE(problem.verify());
  problem.compute();
  EXPECT_TRUE(problem.verify());
}

} // namespace bench
