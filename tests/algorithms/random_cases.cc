// SPDX-License-Identifier: MIT
// Streams of random numbers: the same for every schedule, and random.
#include "nopal/loop.h"
#include "nopal/random.h"
#include "tests/algorithms/support.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace nopal_test {
namespace {

using nopal::random_stream;

// Philox 2x64-10 as its authors' program prints it.
TEST(random, blocks_are_those_of_philox) {
  using nopal::detail::philox;
  using nopal::detail::random_block;
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_TRUE(philox(0, {0, 0}) == (random_block{0xca00a0459843d731u, 0x66c24222c9a845b5u}));
  EXPECT_TRUE(philox(ones, {ones, ones}) ==
              (random_block{0x65b021d60cd8310fu, 0x4d02f3222f86df20u}));
  EXPECT_TRUE(philox(0xa4093822299f31d0u, {0x243f6a8885a308d3u, 0x13198a2e03707344u}) ==
              (random_block{0x0a5e742c2997341cu, 0xb0f883d38000de5du}));
}

// Each call draws, forks, draws and adds: the sum depends on all numbers of all strands.
std::uint64_t sum_of_tree(int depth, random_stream own) {
  std::uint64_t sum = own();
  if (depth == 0)
    return sum;
  nopal::scope s;
  std::uint64_t left = 0;
  s.fork(left, sum_of_tree, depth - 1, own.split());
  sum = sum * 3 + own();
  const std::uint64_t right = sum_of_tree(depth - 1, own.split());
  s.join();
  return (sum ^ left * 5) + right * 7 + own();
}

std::uint64_t sum_of_loop(int count, const random_stream& all) {
  return nopal::reduce(
      0, count, std::uint64_t{0}, [](std::uint64_t x, std::uint64_t y) { return x + y; },
      [&all](int i) {
        random_stream own = all.at(static_cast<std::uint64_t>(i));
        const std::uint64_t first = own();
        return first ^ own();
      });
}

// This case runs with 1, 2 and 4 workers, with forced steals, and as the serial elision.
TEST(random, numbers_are_the_same_for_every_schedule) {
  EXPECT_EQ(sum_of_tree(7, random_stream{1}), 13195013129852676595u);
  EXPECT_EQ(sum_of_loop(1000, random_stream{3}), 6118500869180179620u);
  if (steals_forced())
    return;
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(sum_of_tree(12, random_stream{2}), 9438321800949076757u);
  EXPECT_EQ(sum_of_loop(100000, random_stream{3}), 2202847834796659191u);
}

TEST(random, a_split_changes_no_number_that_is_left) {
  random_stream plain{5};
  random_stream split{5};
  const std::uint64_t first = plain();
  const std::uint64_t second = plain();
  EXPECT_EQ(split(), first);
  const random_stream one = split.split();
  const random_stream two = split.split();
  EXPECT_EQ(split(), second);
  EXPECT_FALSE(one == two);
  EXPECT_TRUE(split.at(7) == plain.at(7)); // whatever was drawn
  random_stream copy = split;
  EXPECT_EQ(copy(), split());
}

// How far the bytes of so many numbers are from equal shares; of random ones in (142, 400), but for
// one of a million.
template <class Next> double chi_square(int numbers, Next next) {
  std::array<double, 256> seen{};
  for (int i = 0; i < numbers; ++i) {
    const std::uint64_t number = next();
    for (int byte = 0; byte < 8; ++byte)
      ++seen[(number >> (8 * byte)) & 255];
  }
  const double expected = numbers * 8 / 256.0;
  double sum = 0;
  for (const double each : seen)
    sum += (each - expected) * (each - expected) / expected;
  return sum;
}
bool is_random(double chi_square) { return chi_square > 142 && chi_square < 400; }

TEST(random, bytes_have_equal_shares) {
  constexpr int numbers = 1 << 15;
  random_stream one{11};
  EXPECT_TRUE(is_random(chi_square(numbers, one)));
  random_stream parent{12};
  EXPECT_TRUE(is_random(chi_square(numbers, [&] { return parent.split()(); })));
  std::uint64_t index = 0;
  EXPECT_TRUE(is_random(chi_square(numbers, [&] { return parent.at(index++)(); })));
  random_stream deep{13}; // a stream below a stream below a stream ...
  EXPECT_TRUE(is_random(chi_square(numbers, [&] {
    deep = deep.split();
    return random_stream{deep}();
  })));
  std::uint64_t seed = 0;
  EXPECT_TRUE(is_random(chi_square(numbers, [&] { return random_stream{seed++}(); })));
  // The measure finds numbers that are not random, and some that are too even.
  std::uint64_t sum = 0;
  EXPECT_FALSE(is_random(chi_square(numbers, [&] { return sum += 0x9e3779b97f4a7c15u << 8; })));
  std::uint64_t even = 0;
  EXPECT_FALSE(is_random(chi_square(numbers, [&] { return even++ * 0x0101010101010101u; })));
}

// A bit of one number says nothing of the same bit of its neighbour.
TEST(random, neighbours_differ_in_half_of_their_bits) {
  random_stream parent{21};
  long split = 0;
  long indexed = 0;
  constexpr int pairs = 20000;
  for (int i = 0; i < pairs; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    split += std::popcount(parent.split()() ^ parent.split()());
    indexed += std::popcount(parent.at(index)() ^ parent.at(index + 1)());
  }
  const double deviation = 5 * std::sqrt(64.0 * 0.25 * pairs);
  EXPECT_NEAR(static_cast<double>(split), 32.0 * pairs, deviation);
  EXPECT_NEAR(static_cast<double>(indexed), 32.0 * pairs, deviation);
}

TEST(random, no_two_siblings_are_the_same) {
  constexpr std::size_t siblings = 100000;
  random_stream parent{31};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> begin;
  begin.reserve(2 * siblings);
  for (std::uint64_t i = 0; i < siblings; ++i)
    for (random_stream each : {parent.split(), parent.at(i)}) {
      const std::uint64_t first = each();
      begin.emplace_back(first, each());
    }
  std::ranges::sort(begin);
  EXPECT_TRUE(std::ranges::adjacent_find(begin) == begin.end());
}

TEST(random, serves_the_distributions) {
  static_assert(std::uniform_random_bit_generator<random_stream>);
  random_stream own{41};
  std::vector<int> cards = numbers(52);
  const std::multiset<int> all(cards.begin(), cards.end());
  std::ranges::shuffle(cards, own);
  EXPECT_EQ(std::multiset<int>(cards.begin(), cards.end()), all);
  double sum = 0;
  for (int i = 0; i < 10000; ++i)
    sum += std::uniform_real_distribution<>{}(own);
  EXPECT_NEAR(sum, 5000, 150); // five deviations
}

} // namespace
} // namespace nopal_test
