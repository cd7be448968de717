// SPDX-License-Identifier: MIT
// Many more random programs, larger ones, and several computations at the same time.
#include "tests/sched/random_tree.h"

#include <atomic>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

class many_random_programs : public testing::TestWithParam<unsigned> {};

TEST_P(many_random_programs, compute_what_their_elision_computes) {
  for (const std::size_t budget : {std::size_t{0}, nopal::unlimited})
    EXPECT_EQ(first_difference_with({.num_workers = GetParam(), .stack_budget = budget}, false,
                                    10'000, 40'000, 11),
              40'000u);
}

TEST_P(many_random_programs, compute_the_same_under_forced_steals) {
  for (const std::size_t budget : {std::size_t{0}, nopal::unlimited})
    EXPECT_EQ(first_difference_with({.num_workers = GetParam(), .stack_budget = budget}, true,
                                    50'000, 51'000, 8),
              51'000u);
}

TEST_P(many_random_programs, compute_the_same_beside_one_another) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = GetParam()});
              std::atomic<std::uint64_t> wrong{0};
              std::vector<std::thread> threads;
              for (std::uint64_t i = 0; i < 6; ++i)
                threads.emplace_back([i, &wrong] {
                  const std::uint64_t first = 100'000 * (i + 1);
                  wrong += first_difference(first, first + 3000, 9) == first + 3000 ? 0 : 1;
                });
              for (std::thread& thread : threads)
                thread.join();
              return wrong.load();
            }),
            0u);
}

INSTANTIATE_TEST_SUITE_P(workers, many_random_programs,
                         testing::Values(1u, 2u, 3u, 4u, 5u, 8u, 11u, 16u),
                         testing::PrintToStringParamName());

} // namespace
} // namespace nopal_test
