// SPDX-License-Identifier: MIT
// The problems written with tasks verify themselves and state their forks exactly; SHA-1, and UTS
// beside what the reference prints.
#include "tests/bench/counting.h"

#include "bench/backend/tasks_by_forks.h"
#include "bench/problems/btc.h"
#include "bench/problems/steal.h"
#include "bench/problems/task_fib.h"
#include "bench/problems/task_queens.h"
#include "bench/problems/uts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace bench {
namespace {

template <std::size_t Size> std::string sha1_of(const char (&text)[Size]) {
  std::array<std::uint8_t, Size - 1> message{};
  std::copy_n(text, message.size(), message.begin());
  std::string shown;
  for (const std::uint8_t byte : sha1(message)) {
    shown += "0123456789abcdef"[byte >> 4];
    shown += "0123456789abcdef"[byte & 15];
  }
  return shown;
}

TEST(task_problems, sha1_of_the_standards_examples) {
  EXPECT_EQ(sha1_of(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1_of("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_of("The quick brown fox jumps over the lazy dog"),
            "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12");
}

template <class Problem> void expect_verified(const Problem& problem) {
  forks_counted = 0;
  auto got = problem.root()();
  EXPECT_TRUE(problem.verify(got)) << Problem::name;
  EXPECT_EQ(forks_counted, problem.forks()) << Problem::name;
  std::memset(&got, 1, sizeof got);
  EXPECT_FALSE(problem.verify(got)) << Problem::name;
}

TEST(task_problems, verify_and_state_their_forks) {
  expect_verified(btc1_problem(size::test));
  expect_verified(btc2_problem(size::test));
  expect_verified(btc1_problem(size::test, 1));
  expect_verified(btc2_problem(size::test, 3));
  expect_verified(uts_problem(size::test));
  expect_verified(task_queens_problem(size::test));
  expect_verified(task_queens_problem(size::quick));
  expect_verified(task_fib_problem(size::test));
  expect_verified(task_fib_problem(size::test, 1));
  expect_verified(steal_problem(size::test));
}

// Each kind and shape once, with four million nodes each.
TEST(task_problems, uts_has_the_nodes_leaves_and_levels_of_the_reference) {
  for (const long number : {1L, 2L, 3L, 4L, 5L, 8L})
    expect_verified(uts_problem(size::quick, number));
}

TEST(task_problems, refuse_what_they_do_not_know) {
  EXPECT_THROW(uts_problem(size::test, 7), std::invalid_argument);
  EXPECT_THROW(btc1_problem(size::test, 61), std::invalid_argument);
  EXPECT_THROW(btc2_problem(size::test, 31), std::invalid_argument);
  EXPECT_THROW(task_fib_problem(size::test, 91), std::invalid_argument);
}

} // namespace
} // namespace bench
