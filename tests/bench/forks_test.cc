// SPDX-License-Identifier: MIT
// Each benchmark problem verifies itself, notices a wrong result, and states its forks exactly.
#include "tests/bench/forks.h"

#include "bench/problems/strassen.h"

namespace bench {

INSTANTIATE_TEST_SUITE_P(test, forks, testing::Values(size::test));
INSTANTIATE_TEST_SUITE_P(quick, forks, testing::Values(size::quick));

// Not at the size of the papers, which takes 11 GiB of memory.
TEST(strassen, verifies_and_states_its_forks) {
  for (const auto chosen : {size::test, size::quick})
    expect_true_to_its_word<strassen_problem>(chosen);
}

// The bound that a search leaves behind would end the next one at its root.
TEST(knapsack, searches_anew_each_time) {
  knapsack_problem problem(size::test);
  problem.prepare();
  for (int time = 0; time < 2; ++time) {
    forks_counted = 0;
    problem.compute();
    EXPECT_TRUE(problem.verify());
    EXPECT_EQ(forks_counted, problem.forks());
  }
}

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

class grid_of_heat : public heat_problem {
public:
  using heat_problem::heat_problem;
  std::pair<std::ptrdiff_t, std::ptrdiff_t> sides() const { return {rows_, columns_}; }
};

// The grid of fibril-spaa16 is not that of nowa-ipdps21.
TEST(heat, has_the_grids_of_both_papers) {
  using sides = std::pair<std::ptrdiff_t, std::ptrdiff_t>;
  EXPECT_EQ(grid_of_heat(size::paper).sides(), sides(4096, 1024));
  grid_of_heat problem(size::paper, 2048);
  EXPECT_EQ(problem.n(), 2048);
  EXPECT_EQ(problem.sides(), sides(2048, 500));
  problem.prepare();
  forks_counted = 0;
  problem.compute();
  EXPECT_TRUE(problem.verify());
  EXPECT_EQ(forks_counted, problem.forks());
}

TEST(heat, refuses_a_grid_that_its_waves_do_not_fit) {
  EXPECT_THROW(heat_problem(size::test, 127), std::invalid_argument);
  EXPECT_NO_THROW(heat_problem(size::test, 128));
  EXPECT_THROW(heat_problem(size::test, (1 << 16) + 1), std::invalid_argument);
}

class damaged_cilksort : public cilksort_problem {
public:
  damaged_cilksort() : cilksort_problem(size::test) {}
  void duplicate_one() { values_[1] = values_[0]; }
  void swap_two() { std::swap(values_.front(), values_.back()); }
};

TEST(verification, cilksort_notices_a_lost_element_and_a_wrong_order) {
  damaged_cilksort problem;
  problem.prepare();
  problem.compute();
  ASSERT_TRUE(problem.verify());
  problem.swap_two();
  EXPECT_FALSE(problem.verify());
  problem.swap_two();
  ASSERT_TRUE(problem.verify());
  problem.duplicate_one();
  EXPECT_FALSE(problem.verify());
}

class damaged_rectmul : public rectmul_problem {
public:
  damaged_rectmul() : rectmul_problem(size::test) {}
  void compute_without_the_last_row() {
    rectmul(a_.data(), b_.data(), c_.data(), shape_.rows - 1, shape_.inner, shape_.columns,
            shape_.inner * rectmul_area, shape_.columns * rectmul_area);
  }
};

TEST(verification, rectmul_notices_a_missing_row_of_blocks) {
  damaged_rectmul problem;
  problem.prepare();
  problem.compute_without_the_last_row();
  EXPECT_FALSE(problem.verify());
}

class damaged_strassen : public strassen_problem {
public:
  damaged_strassen() : strassen_problem(size::test) {}
  void change_one() { c_[77] += 1; }
};

TEST(verification, strassen_notices_one_wrong_entry) {
  damaged_strassen problem;
  problem.prepare();
  problem.compute();
  ASSERT_TRUE(problem.verify());
  problem.change_one();
  EXPECT_FALSE(problem.verify());
}

class damaged_raytracer : public raytracer_problem {
public:
  damaged_raytracer() : raytracer_problem(size::test) {}
  void compute_without_a_pixel() {
    const raytracer_image image{pixels_.data(), known_.edge};
    raytracer(&image, 0, 1000);
    raytracer(&image, 1001, known_.edge * known_.edge);
  }
};

TEST(verification, raytracer_notices_a_missing_pixel) {
  damaged_raytracer problem;
  problem.prepare();
  problem.compute_without_a_pixel();
  EXPECT_FALSE(problem.verify());
}

class damaged_barnes_hut : public barnes_hut_problem {
public:
  damaged_barnes_hut() : barnes_hut_problem(size::test) {}
  void turn_a_velocity() { bodies_[77].velocity.x *= -1; }
  void turn_the_forces() {
    for (barnes_hut_body& body : bodies_)
      body.acceleration = -1 * body.acceleration;
  }
};

TEST(verification, barnes_hut_notices_one_body_and_what_is_not_gravity) {
  damaged_barnes_hut problem;
  problem.prepare();
  problem.compute();
  ASSERT_TRUE(problem.verify());
  problem.turn_a_velocity();
  EXPECT_FALSE(problem.verify());
  problem.turn_a_velocity();
  ASSERT_TRUE(problem.verify());
  problem.turn_the_forces();
  EXPECT_FALSE(problem.verify());
}

template <class Problem> class damaged_keys : public Problem {
public:
  damaged_keys() : Problem(size::test) {}
  void duplicate_one() { this->keys_[1] = this->keys_[0]; }
  void swap_two() { std::swap(this->keys_.front(), this->keys_.back()); }
};

template <class Problem> void expect_to_notice_damage() {
  damaged_keys<Problem> problem;
  problem.prepare();
  problem.compute();
  ASSERT_TRUE(problem.verify());
  problem.swap_two();
  EXPECT_FALSE(problem.verify());
  problem.swap_two();
  ASSERT_TRUE(problem.verify());
  problem.duplicate_one();
  EXPECT_FALSE(problem.verify());
}

TEST(verification, merge_sort_notices_a_lost_key_and_a_wrong_order) {
  expect_to_notice_damage<merge_sort_problem>();
}

TEST(verification, bitonic_notices_a_lost_key_and_a_wrong_order) {
  expect_to_notice_damage<bitonic_problem>();
}

// Where a merge is divided depends on which keys are equal and on how long its two runs are.
TEST(merge_sort, sorts_equal_keys_and_any_number_of_them) {
  for (const std::int32_t different : {1, 2, 1000}) {
    for (const std::size_t count : {33U, 1025U, 5000U}) {
      std::vector<std::int32_t> keys(count);
      for (std::size_t i = 0; i < count; ++i)
        keys[i] = static_cast<std::int32_t>(mixed(i)) % different;
      std::vector<std::int32_t> sorted = keys;
      std::sort(sorted.begin(), sorted.end());
      std::vector<std::int32_t> scratch(count);
      merge_sort(keys.data(), scratch.data(), static_cast<std::ptrdiff_t>(count), false);
      EXPECT_EQ(keys, sorted) << count << " keys modulo " << different;
    }
  }
}

class damaged_knapsack : public knapsack_problem {
public:
  damaged_knapsack() : knapsack_problem(size::test) {}
  void search_without_the_first_item() {
    sack_.end = items_.data() + items_.size();
    result_ = knapsack_search<false>::explore(&sack_, items_.data() + 1, capacity_, 0);
  }
};

TEST(verification, knapsack_notices_a_branch_not_searched) {
  damaged_knapsack problem;
  problem.prepare();
  problem.search_without_the_first_item();
  EXPECT_FALSE(problem.verify());
}

} // namespace bench
