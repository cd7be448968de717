// SPDX-License-Identifier: MIT
// Random programs compute what their serial elision computes, with 1 to 16 workers.
#include "tests/sched/random_tree.h"

namespace nopal_test {
namespace {

class random_programs : public testing::TestWithParam<unsigned> {
protected:
  static nopal::options within(std::size_t budget) {
    return {.num_workers = GetParam(), .stack_budget = budget};
  }
};

TEST_P(random_programs, compute_what_their_elision_computes) {
  EXPECT_EQ(first_difference_with(within(nopal::unlimited), false, 0, 1500, 9), 1500u);
}

TEST_P(random_programs, compute_the_same_where_pages_go_back) {
  EXPECT_EQ(first_difference_with(within(0), false, 2000, 2500, 9), 2500u);
}

// Fewer stacks than workers: some thieves have to wait.
TEST_P(random_programs, compute_the_same_with_three_stacks) {
  for (const std::size_t budget : {std::size_t{0}, std::size_t{1} << 20, nopal::unlimited}) {
    nopal::options asked = within(budget);
    asked.max_stacks = 3;
    EXPECT_EQ(first_difference_with(asked, false, 4000, 4300, 9), 4300u) << budget;
  }
}

TEST_P(random_programs, compute_the_same_under_forced_steals) {
  EXPECT_EQ(first_difference_with(within(nopal::unlimited), true, 5000, 5040, 6), 5040u);
}

INSTANTIATE_TEST_SUITE_P(workers, random_programs, testing::Values(1u, 2u, 3u, 5u, 16u),
                         testing::PrintToStringParamName());

// The comparison can fail: another seed computes another number. And some programs throw.
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
