// SPDX-License-Identifier: MIT
// Distributions where elements lie, and the moves of their blocks.
#include "nopal/algorithms/block_moves.h"
#include "nopal/algorithms/distribute.h"
#include "nopal/algorithms/distribute_in_place.h"
#include "nopal/algorithms/elements.h"
#include "tests/algorithms/support.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

namespace nopal_test {
namespace {

template <class T> void expect_distributed(std::vector<T> all, const std::vector<T>& given) {
  const std::ranges::less comp;
  const std::identity same;
  const nopal::algorithms::by less{comp, same};
  const std::uint64_t sum = sum_of(all);
  for (const bool repeated : {false, true}) {
    const nopal::algorithms::splitters<T, std::remove_const_t<decltype(less)>> over{
        given.data(), given.size(), repeated, less};
    std::vector<T> moved = all;
    std::vector<std::size_t> lengths(over.buckets());
    nopal::algorithms::in_place_distribution{moved.data(), moved.size(), over}.run(
        [&lengths](std::size_t bucket, std::size_t begin, std::size_t end) {
          lengths[bucket] = end - begin;
        });
    std::vector<std::uint8_t> bucket_of(all.size());
    std::vector<std::size_t> counts(over.buckets());
    over.classify(moved.data(), moved.size(), bucket_of.data(), counts.data());
    ASSERT_TRUE(std::ranges::is_sorted(bucket_of)) << all.size() << " elements";
    ASSERT_EQ(counts, lengths);
    ASSERT_EQ(sum_of(moved), sum) << all.size() << " elements";
    all = moved; // what is in its bucket stays there
  }
}
// Of less than a block, of some blocks, and of two stripes.
TEST(distribute_in_place, moves_each_element_to_its_bucket) {
  std::vector<int> each_tenth;
  for (int i = 0; i < 100; ++i)
    each_tenth.push_back(10 * i);
  for (const std::size_t size : {0u, 1u, 511u, 512u, 513u, 5000u, 33333u}) {
    std::vector<int> all = numbers(size, 1000);
    expect_distributed(all, {500});
    expect_distributed(all, {3, 700, 701, 702, 900});
    std::ranges::sort(all, std::greater<>{});
    expect_distributed(all, each_tenth);
    expect_distributed(std::vector<signed char>(all.begin(), all.end()), {-100, 0, 1, 50});
  }
  expect_distributed(numbers(1'100'000, 1000), each_tenth);
}

// The moves do what a plain permutation does, whichever segment runs first.
TEST(block_moves, run_in_any_order_of_the_segments) {
  using nopal::algorithms::block_moves;
  std::mt19937 random{11};
  for (const std::size_t slots : {0u, 1u, 2u, 255u, 256u, 257u, 1000u, 5000u})
    for (const int shape : {0, 1, 2, 3, 4}) {
      std::vector<std::size_t> source(slots);
      std::iota(source.begin(), source.end(), std::size_t{0});
      if (shape == 0) // any permutation
        std::ranges::shuffle(source, random);
      else if (shape == 1) // one cycle
        std::rotate(source.begin(), source.begin() + (slots > 1 ? 1 : 0), source.end());
      else if (shape == 2) // pairs that change places
        std::ranges::reverse(source);
      else if (shape == 3) // cycles of three
        for (std::size_t i = 0; i + 3 <= slots; i += 3)
          std::rotate(source.begin() + static_cast<std::ptrdiff_t>(i),
                      source.begin() + static_cast<std::ptrdiff_t>(i + 1),
                      source.begin() + static_cast<std::ptrdiff_t>(i + 3));
      else // chains: some slots take nothing
        std::ranges::shuffle(source, random);
      block_moves moves{slots, 1};
      std::vector<bool> taken(slots);
      std::vector<bool> takes(slots);
      for (std::size_t i = 0; i < slots; ++i) {
        takes[i] = shape != 4 || i % 100 != 7;
        if (takes[i]) {
          moves.take(i, source[i]);
          taken[source[i]] = true;
        }
      }
      moves.plan([&taken](std::size_t i) { return taken[i]; });
      ASSERT_LE(moves.saves(), block_moves::most_saved(slots, 0));
      std::vector<std::size_t> order(moves.segments());
      std::iota(order.begin(), order.end(), std::size_t{0});
      for (const bool falling : {false, true}) {
        if (falling)
          std::ranges::reverse(order);
        std::vector<std::size_t> data(2 * slots);
        std::iota(data.begin(), data.end(), std::size_t{0});
        std::vector<std::size_t> saved(2 * moves.saves());
        for (std::size_t i = 0; i < moves.saves(); ++i)
          moves.run_save<2>(i, data.data(), saved.data());
        for (const std::size_t segment : order)
          moves.run_segment<2>(segment, data.data(), saved.data());
        for (std::size_t i = 0; i < slots; ++i) {
          if (takes[i]) {
            ASSERT_EQ(data[2 * i], 2 * source[i]) << "slot " << i << " of " << slots;
            ASSERT_EQ(data[2 * i + 1], 2 * source[i] + 1);
          }
        }
      }
    }
}

} // namespace
} // namespace nopal_test
