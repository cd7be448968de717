// SPDX-License-Identifier: MIT
// Random programs compute what their serial elision computes, with 1 to 16 workers.
#include "tests/sched/random_tree.h"

namespace nopal_test {
namespace {

using nopal::stack_policy;

class random_programs : public testing::TestWithParam<unsigned> {
protected:
  static nopal::options with(stack_policy policy) {
    return {.num_workers = GetParam(), .policy = policy};
  }
};

TEST_P(random_programs, compute_what_their_elision_computes) {
  EXPECT_EQ(first_difference_with(with(stack_policy::keep), false, 0, 1500, 9), 1500u);
}

TEST_P(random_programs, compute_the_same_where_pages_go_back) {
  EXPECT_EQ(first_difference_with(with(stack_policy::dontneed), false, 2000, 2500, 9), 2500u);
}

TEST_P(random_programs, compute_the_same_where_the_kernel_may_take_pages) {
  EXPECT_EQ(first_difference_with(with(stack_policy::free), false, 3000, 3300, 9), 3300u);
}

TEST_P(random_programs, compute_the_same_where_pages_are_replaced) {
  EXPECT_EQ(first_difference_with(with(stack_policy::remap), false, 3500, 3800, 9), 3800u);
}

// Fewer stacks than workers: some thieves have to wait.
TEST_P(random_programs, compute_the_same_with_three_stacks) {
  const nopal::options asked{
      .num_workers = GetParam(), .policy = stack_policy::bounded, .max_stacks = 3};
  EXPECT_EQ(first_difference_with(asked, false, 4000, 4300, 9), 4300u);
}

TEST_P(random_programs, compute_the_same_under_forced_steals) {
  EXPECT_EQ(first_difference_with(with(stack_policy::keep), true, 5000, 5040, 6), 5040u);
}

INSTANTIATE_TEST_SUITE_P(workers, random_programs, testing::Values(1u, 2u, 3u, 5u, 16u),
                         testing::PrintToStringParamName());

// The comparison itself: another program computes something else, and some throw.
TEST(random_program, depends_on_its_seed) {
  int negative = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    EXPECT_NE(program<with_calls>::run(seed, 9), program<with_calls>::run(seed + 1, 9));
    negative += program<with_calls>::run(seed, 9) >> 63 != 0 ? 1 : 0;
  }
  EXPECT_GT(negative, 0);
}

} // namespace
} // namespace nopal_test
