// SPDX-License-Identifier: MIT
// One question to every benchmark problem: does it verify itself, and fork as often as it says?
#pragma once

#include <gtest/gtest.h>

#include <ostream>

#include "tests/bench/counting.h"

// Written in the macros of counting.h.
#include "bench/problems/barnes_hut.h"
#include "bench/problems/bitonic.h"
#include "bench/problems/board_fib.h"
#include "bench/problems/board_matmul.h"
#include "bench/problems/board_nqueens.h"
#include "bench/problems/board_skynet.h"
#include "bench/problems/cholesky.h"
#include "bench/problems/cilksort.h"
#include "bench/problems/fft.h"
#include "bench/problems/fib.h"
#include "bench/problems/fibx.h"
#include "bench/problems/heat.h"
#include "bench/problems/integrate.h"
#include "bench/problems/knapsack.h"
#include "bench/problems/lu.h"
#include "bench/problems/matmul.h"
#include "bench/problems/merge_sort.h"
#include "bench/problems/nqueens.h"
#include "bench/problems/quicksort.h"
#include "bench/problems/raytracer.h"
#include "bench/problems/rectmul.h"

namespace bench {

template <class Problem> void expect_true_to_its_word(size chosen) {
  Problem problem(chosen);
  problem.prepare();
  EXPECT_FALSE(problem.verify()) << Problem::name << " verifies before it has run";
  forks_counted = 0;
  problem.compute();
  EXPECT_TRUE(problem.verify()) << Problem::name;
  EXPECT_EQ(forks_counted, problem.forks()) << Problem::name;
}

// For the names of the tests.
inline void PrintTo(size chosen, std::ostream* out) {
  *out << (chosen == size::test ? "test" : chosen == size::quick ? "quick" : "paper");
}

class forks : public testing::TestWithParam<size> {};

TEST_P(forks, fib) { expect_true_to_its_word<fib_problem>(GetParam()); }
TEST_P(forks, board_fib) { expect_true_to_its_word<board_fib_problem>(GetParam()); }
// The board's own size would take a quarter of a minute.
TEST(forks_at_size_test, board_matmul) {
  expect_true_to_its_word<board_matmul_problem>(size::test);
}
TEST_P(forks, board_nqueens) { expect_true_to_its_word<board_nqueens_problem>(GetParam()); }
TEST_P(forks, board_skynet) { expect_true_to_its_word<board_skynet_problem>(GetParam()); }
TEST_P(forks, integrate) { expect_true_to_its_word<integrate_problem>(GetParam()); }
TEST_P(forks, nqueens) { expect_true_to_its_word<nqueens_problem>(GetParam()); }
TEST_P(forks, quicksort) { expect_true_to_its_word<quicksort_problem>(GetParam()); }
TEST_P(forks, matmul) { expect_true_to_its_word<matmul_problem>(GetParam()); }
TEST_P(forks, heat) { expect_true_to_its_word<heat_problem>(GetParam()); }
TEST_P(forks, knapsack) { expect_true_to_its_word<knapsack_problem>(GetParam()); }
TEST_P(forks, knapsack_swapped) { expect_true_to_its_word<knapsack_swapped_problem>(GetParam()); }
TEST_P(forks, rectmul) { expect_true_to_its_word<rectmul_problem>(GetParam()); }
TEST_P(forks, fibx) { expect_true_to_its_word<fibx_problem>(GetParam()); }
TEST_P(forks, cilksort) { expect_true_to_its_word<cilksort_problem>(GetParam()); }
TEST_P(forks, fft) { expect_true_to_its_word<fft_problem>(GetParam()); }
TEST_P(forks, lu) { expect_true_to_its_word<lu_problem>(GetParam()); }
TEST_P(forks, cholesky) { expect_true_to_its_word<cholesky_problem>(GetParam()); }
TEST_P(forks, raytracer) { expect_true_to_its_word<raytracer_problem>(GetParam()); }
TEST_P(forks, barnes_hut) { expect_true_to_its_word<barnes_hut_problem>(GetParam()); }
TEST_P(forks, merge_sort) { expect_true_to_its_word<merge_sort_problem>(GetParam()); }
TEST_P(forks, bitonic) { expect_true_to_its_word<bitonic_problem>(GetParam()); }

} // namespace bench
