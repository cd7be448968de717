// SPDX-License-Identifier: MIT
// Loops over pieces, blocks and steps: each index once, in pieces that are no longer than asked.
#include "nopal/cancel.h"
#include "nopal/for_range.h"
#include "tests/api/support.h"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace nopal_test {
namespace {

void count(int& visits) { __atomic_fetch_add(&visits, 1, __ATOMIC_RELAXED); }

TEST(for_range, pieces_are_all_of_the_range) {
  for (const int length : {0, 1, 2, 100, 5000})
    for (const std::size_t grain : {0u, 1u, 7u, 9999u}) {
      std::vector<int> seen(static_cast<std::size_t>(length));
      nopal::for_range(
          -50, length - 50,
          [&](int first, int last) {
            ASSERT_LT(first, last);
            if (grain != 0) {
              ASSERT_LE(static_cast<std::size_t>(last - first), grain);
            }
            for (int i = first; i < last; ++i)
              count(seen.at(static_cast<std::size_t>(i + 50)));
          },
          grain);
      ASSERT_EQ(seen, std::vector<int>(static_cast<std::size_t>(length), 1));
    }
}

TEST(for_range, counts_in_the_common_type_up_to_its_end) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> all{0};
  nopal::for_range(
      most - 1000, most, [&](std::uint64_t first, std::uint64_t last) { all += last - first; }, 10);
  EXPECT_EQ(all, 1000u);
}

TEST(for_range, throws_what_the_first_piece_throws) {
  const auto fails = [](int first, int) {
    if (first >= 100)
      throw first;
  };
  int thrown = 0;
  try {
    nopal::for_range(0, 800, fails, 100);
  } catch (const int first) {
    thrown = first;
  }
  EXPECT_EQ(thrown, 100);
}

TEST(for_block, blocks_are_all_of_the_table) {
  for (const int rows : {0, 1, 2, 37, 300})
    for (const int columns : {0, 1, 5, 64, 700})
      for (const std::size_t grain : {0u, 1u, 16u, 100u, 1000000u}) {
        std::vector<int> seen(static_cast<std::size_t>(rows * columns));
        nopal::for_block(
            1, rows + 1, 0, columns,
            [&](int top, int bottom, int left, int right) {
              ASSERT_LT(top, bottom);
              ASSERT_LT(left, right);
              if (grain != 0) {
                ASSERT_LE(static_cast<std::size_t>((bottom - top) * (right - left)), grain);
              }
              for (int i = top; i < bottom; ++i)
                for (int k = left; k < right; ++k)
                  count(seen.at(static_cast<std::size_t>((i - 1) * columns + k)));
            },
            grain);
        ASSERT_EQ(seen, std::vector<int>(static_cast<std::size_t>(rows * columns), 1))
            << rows << " x " << columns << " by " << grain;
      }
}

TEST(for_block, blocks_are_squares_where_the_table_is_wide_enough) {
  nopal::for_block(
      0, 1024, 0, 1024,
      [](int top, int bottom, int left, int right) {
        EXPECT_EQ(bottom - top, 32);
        EXPECT_EQ(right - left, 32);
      },
      1024);
  std::atomic<int> blocks{0};
  nopal::for_block(0, 2, 0, 100000, [&](int, int, int, int) { ++blocks; }, 1000);
  EXPECT_EQ(blocks, 200) << "of a narrow table they are long";
}

TEST(for_block, of_the_largest_table_begins) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::atomic<int> blocks{0};
  nopal::cancel_scope s;
  s.fork([&] {
    nopal::for_block(-most, most, -most, most,
                     [&](std::int64_t top, std::int64_t bottom, std::int64_t, std::int64_t) {
                       EXPECT_LT(top, bottom);
                       ++blocks;
                       s.cancel();
                     });
  });
  EXPECT_FALSE(s.try_join());
  EXPECT_GT(blocks, 0);
}

TEST(for_step, visits_each_index_of_its_step) {
  for (const int step : {1, 2, 3, 1000}) {
    std::vector<int> seen(1000);
    nopal::for_step(5, 1000, step, [&](int i) { count(seen.at(static_cast<std::size_t>(i))); }, 4);
    for (int i = 0; i < 1000; ++i)
      ASSERT_EQ(seen[static_cast<std::size_t>(i)], i >= 5 && (i - 5) % step == 0 ? 1 : 0);
  }
}

TEST(for_step, ends_before_the_end_of_the_type) {
  std::atomic<int> visits{0};
  nopal::for_step(std::uint8_t{0}, std::uint8_t{255}, 100u, [&](std::uint8_t i) {
    EXPECT_EQ(i % 100, 0);
    ++visits;
  });
  EXPECT_EQ(visits, 3);
}

using for_step_death = death;
TEST_F(for_step_death, counts_upwards) {
  EXPECT_EXIT(nopal::for_step(10, 0, -1, [](int) {}), testing::ExitedWithCode(70),
              "^nopal: a loop has the step -1, but it counts upwards; give it 1 or more\n$");
}

} // namespace
} // namespace nopal_test
