// SPDX-License-Identifier: MIT
// Many more random programs that cancel, larger ones, and more orders.
#include "tests/api/random_cancellation.h"

namespace nopal_test {
namespace {

class many_random_cancellations : public testing::TestWithParam<unsigned> {};

TEST_P(many_random_cancellations, stop_what_is_cancelled_and_nothing_else) {
  EXPECT_EQ(first_wrong_with({.num_workers = GetParam()}, false, 10'000, 20'000, 7), 20'000u);
}

TEST_P(many_random_cancellations, do_so_under_forced_steals) {
  EXPECT_EQ(first_wrong_with({.num_workers = GetParam()}, true, 20'000, 22'000, 5), 22'000u);
}

INSTANTIATE_TEST_SUITE_P(workers, many_random_cancellations, testing::Values(1u, 2u, 3u, 5u, 16u),
                         testing::PrintToStringParamName());

TEST(many_random_cancellations_in_order, stop_what_is_cancelled_and_nothing_else) {
  for (std::uint64_t order = 1; order <= 500; ++order)
    EXPECT_EQ(first_wrong_with({.virtual_workers = 16u << order % 3, .seed = order}, false,
                               1000 * order, 1000 * order + 20, 6),
              1000 * order + 20)
        << order;
}

} // namespace
} // namespace nopal_test
