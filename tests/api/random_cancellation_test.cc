// SPDX-License-Identifier: MIT
// Random programs that cancel keep the rule of random_cancellation.h, with 1 to 4 workers.
#include "tests/api/random_cancellation.h"

namespace nopal_test {
namespace {

class random_cancellations : public testing::TestWithParam<unsigned> {};

TEST_P(random_cancellations, stop_what_is_cancelled_and_nothing_else) {
  EXPECT_EQ(first_wrong_with({.num_workers = GetParam()}, false, 0, 120, 5), 120u);
}

TEST_P(random_cancellations, do_so_under_forced_steals) {
  EXPECT_EQ(first_wrong_with({.num_workers = GetParam()}, true, 1000, 1060, 4), 1060u);
}

INSTANTIATE_TEST_SUITE_P(workers, random_cancellations, testing::Values(1u, 2u, 4u),
                         testing::PrintToStringParamName());

// In an order that a seed decides, and that can be repeated.
TEST(random_cancellations_in_order, stop_what_is_cancelled_and_nothing_else) {
  for (std::uint64_t order = 1; order <= 6; ++order)
    EXPECT_EQ(first_wrong_with({.virtual_workers = 16u << order % 3, .seed = order}, false,
                               100 * order, 100 * order + 40, 5),
              100 * order + 40)
        << order;
}

} // namespace
} // namespace nopal_test
