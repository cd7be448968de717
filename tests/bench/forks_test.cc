// SPDX-License-Identifier: MIT
// Each benchmark problem verifies itself, notices a wrong result, and states its forks exactly.
#include "tests/bench/forks.h"

namespace bench {

INSTANTIATE_TEST_SUITE_P(test, forks, testing::Values(size::test));
INSTANTIATE_TEST_SUITE_P(quick, forks, testing::Values(size::quick));

// A strand that is lost leaves one element, one row or one entry as it was.
class damaged_sort : public quicksort_problem {
public:
  damaged_sort() : quicksort_problem(size::test) {}
  void duplicate_one() { values_[1] = values_[0]; }
  void swap_two() { std::swap(values_.front(), values_.back()); }
};

TEST(verification, quicksort_notices_a_lost_element) {
  damaged_sort problem;
  problem.prepare();
  problem.compute();
  ASSERT_TRUE(problem.verify());
  problem.duplicate_one();
  EXPECT_FALSE(problem.verify());
}

TEST(verification, quicksort_notices_a_wrong_order) {
  damaged_sort problem;
  problem.prepare();
  problem.compute();
  problem.swap_two();
  EXPECT_FALSE(problem.verify());
}

class damaged_product : public matmul_problem {
public:
  damaged_product() : matmul_problem(size::test) {}
  void change_one() { c_[77] += 1; }
};

TEST(verification, matmul_notices_one_wrong_entry) {
  damaged_product problem;
  problem.prepare();
  problem.compute();
  ASSERT_TRUE(problem.verify());
  problem.change_one();
  EXPECT_FALSE(problem.verify());
}

class damaged_heat : public heat_problem {
public:
  explicit damaged_heat(size chosen) : heat_problem(chosen) {}
  void compute_missing_a_row(std::ptrdiff_t row) {
    for (int t = 0; t < steps; ++t) {
      const heat_step step{grid_.data(), next_.data(), columns_, across, down};
      if (t == steps / 2) {
        diffuse(&step, 1, row);
        diffuse(&step, row + 1, rows_ - 1);
      } else {
        diffuse(&step, 1, rows_ - 1);
      }
      grid_.swap(next_);
    }
  }
};

TEST(verification, heat_notices_a_row_missed_in_one_step) {
  for (const auto chosen : {size::test, size::quick}) {
    damaged_heat problem(chosen);
    problem.prepare();
    problem.compute_missing_a_row(50);
    EXPECT_FALSE(problem.verify());
  }
}

} // namespace bench
