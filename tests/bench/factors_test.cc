// SPDX-License-Identifier: MIT
// fft, lu and cholesky notice a wrong result; cholesky counts the forks of any pattern and reads
// files.
#include "tests/bench/counting.h"

#include "bench/problems/cholesky.h"
#include "bench/problems/fft.h"
#include "bench/problems/lu.h"
#include "tests/bench/written_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

class damaged_fft : public fft_problem {
public:
  damaged_fft() : fft_problem(size::test) {}
  void exchange(std::size_t i, std::size_t j) { std::swap(result_[i], result_[j]); }
  void turn_one() { fine_[1] = fine_[0]; }
  void lose_a_sample() { signal_.back() = {0, 0}; }
};

TEST(fft, notices_neighbours_exchanged) {
  damaged_fft problem;
  problem.prepare();
  problem.compute();
  for (std::size_t k = 0; k + 1 < static_cast<std::size_t>(problem.n()); k += 7) {
    problem.exchange(k, k + 1);
    ASSERT_FALSE(problem.verify()) << k;
    problem.exchange(k, k + 1);
  }
  EXPECT_TRUE(problem.verify());
}

TEST(fft, notices_a_wrong_root) {
  damaged_fft problem;
  problem.prepare();
  problem.turn_one();
  problem.compute();
  EXPECT_FALSE(problem.verify());
}

TEST(fft, notices_the_loss_of_the_smallest_number) {
  damaged_fft problem;
  problem.prepare();
  problem.lose_a_sample();
  problem.compute();
  EXPECT_FALSE(problem.verify());
}

class damaged_lu : public lu_problem {
public:
  damaged_lu() : lu_problem(size::test) {}
  // Computes the last block again, without some of its seven updates.
  void repeat_last_block(std::ptrdiff_t updates_missing) {
    const std::ptrdiff_t blocks = n_ / lu_side;
    const auto block = [&](std::ptrdiff_t i, std::ptrdiff_t j) {
      return a_.data() + (i * blocks + j) * lu_block;
    };
    for (std::ptrdiff_t i = 0; i < lu_side; ++i) {
      for (std::ptrdiff_t j = 0; j < lu_side; ++j)
        block(blocks - 1, blocks - 1)[i * lu_side + j] = entry(n_ - lu_side + i, n_ - lu_side + j);
    }
    for (std::ptrdiff_t k = 0; k + 1 + updates_missing < blocks; ++k)
      subtract_product_block(block(blocks - 1, blocks - 1), block(blocks - 1, k),
                             block(k, blocks - 1));
    factor_block(block(blocks - 1, blocks - 1));
  }
};

TEST(lu, notices_a_product_of_two_blocks_that_is_lost) {
  damaged_lu problem;
  problem.prepare();
  problem.compute();
  problem.repeat_last_block(0);
  EXPECT_TRUE(problem.verify());
  problem.repeat_last_block(1);
  EXPECT_FALSE(problem.verify());
}

class opened_cholesky : public cholesky_problem {
public:
  explicit opened_cholesky(symmetric_matrix matrix) : cholesky_problem(std::move(matrix)) {}
  explicit opened_cholesky(size chosen) : cholesky_problem(chosen) {}

  // Calls f for each tile and its level.
  template <class F> void each_tile(F f) { each_tile(root_, pattern_.depth(), f); }
  std::uint64_t tiles_foretold() const { return pattern_.tiles(); }

private:
  template <class F> static void each_tile(tile* block, int level, F& f) {
    f(block, level);
    for (int part = 0; level > 0 && part < 4; ++part) {
      if (block->quadrant[part] != nullptr)
        each_tile(block->quadrant[part], level - 1, f);
    }
  }
};

TEST(cholesky, notices_a_leaf_that_is_lost) {
  opened_cholesky problem(size::test);
  problem.prepare();
  problem.compute();
  ASSERT_TRUE(problem.verify());
  int lost = 0;
  problem.each_tile([&](tile* leaf, int level) {
    // A product of leaves whose columns do not meet is a leaf of zeros.
    const bool zero = level == 0 && std::ranges::count(leaf->entry, 0.0) == tile_side * tile_side;
    if (level > 0 || zero || ++lost % 10 != 0)
      return;
    const tile kept = std::exchange(*leaf, tile{});
    EXPECT_FALSE(problem.verify()) << "leaf " << lost;
    *leaf = kept;
  });
  EXPECT_GT(lost, 100);
  EXPECT_TRUE(problem.verify());
}

using places = std::vector<std::pair<std::int32_t, std::int32_t>>;

// Dominated by its diagonal, with -1 at the places given.
void expect_foretold(std::int32_t order, const places& below) {
  symmetric_matrix matrix{order, {}};
  for (const auto& [row, column] : below)
    matrix.lower.push_back({row, column, -1.0});
  for (std::int32_t i = 0; i < order; ++i)
    matrix.lower.push_back({i, i, order + 1.0});
  opened_cholesky problem(std::move(matrix));
  problem.prepare();
  forks_counted = 0;
  problem.compute();
  EXPECT_TRUE(problem.verify());
  EXPECT_EQ(forks_counted, problem.forks());
  std::uint64_t tiles = 0;
  problem.each_tile([&](tile*, int) { ++tiles; });
  EXPECT_EQ(tiles, problem.tiles_foretold());
}

// The pattern foretells what is computed, for orders that fill their last leaf and others.
constexpr std::int32_t orders[] = {1, 3, 4, 5, 8, 17, 64, 100, 131};

TEST(cholesky, foretells_forks_of_a_diagonal) {
  for (const std::int32_t n : orders)
    expect_foretold(n, {});
}

TEST(cholesky, foretells_forks_of_a_band) {
  for (const std::int32_t n : orders) {
    places band;
    for (std::int32_t i = 1; i < n; ++i)
      band.emplace_back(i, i - 1);
    expect_foretold(n, band);
  }
}

TEST(cholesky, foretells_forks_of_arrows) {
  for (const std::int32_t n : orders) {
    places last_row;
    places first_column;
    for (std::int32_t i = 1; i < n; ++i) {
      last_row.emplace_back(n - 1, i - 1);
      first_column.emplace_back(i, 0);
    }
    expect_foretold(n, last_row);
    expect_foretold(n, first_column);
  }
}

TEST(cholesky, foretells_forks_of_random_patterns) {
  random_numbers random(4000);
  const auto below = [&](std::int32_t n) {
    return static_cast<std::int32_t>(random.next() % static_cast<std::uint64_t>(n));
  };
  for (int time = 0; time < 200; ++time) {
    const std::int32_t n = 2 + below(200);
    std::set<std::pair<std::int32_t, std::int32_t>> some;
    for (std::int32_t count = below(3 * n); count > 0; --count) {
      const std::int32_t row = 1 + below(n - 1);
      some.emplace(row, below(row));
    }
    expect_foretold(n, places(some.begin(), some.end()));
  }
}

TEST(cholesky, factors_a_matrix_from_a_file) {
  const written_file file("%%MatrixMarket matrix coordinate integer symmetric\n"
                          "5 5 7\n1 1 4\n2 2 5\n3 3 6\n4 4 7\n5 5 8\n3 1 -2\n5 2 3\n");
  cholesky_problem problem(file.path());
  EXPECT_EQ(problem.n(), 5);
  problem.prepare();
  EXPECT_FALSE(problem.verify());
  problem.compute();
  EXPECT_TRUE(problem.verify());
}

TEST(cholesky, refuses_a_file_whose_matrix_has_no_factor) {
  const written_file file("%%MatrixMarket matrix coordinate real symmetric\n"
                          "5 5 3\n1 1 1\n2 2 1\n5 1 2\n");
  cholesky_problem problem(file.path());
  problem.prepare();
  problem.compute();
  try {
    problem.verify();
    FAIL() << "the result was not refused";
  } catch (const std::invalid_argument& e) {
    EXPECT_EQ(e.what(), file.path() + ": the matrix is not positive definite");
  }
}

} // namespace
} // namespace bench
