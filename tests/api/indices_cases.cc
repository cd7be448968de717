// SPDX-License-Identifier: MIT
// The indices of loops: both ends of every integer type, ends of two types, and counts that fill
// 64 bits, for every loop that counts.
#include "nopal/find.h"
#include "nopal/loop.h"
#include "tests/api/support.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <type_traits>
#include <vector>

namespace nopal_test {

// Small and large integers, with and without a sign.
template <class I> class indices : public testing::Test {};
using index_types = testing::Types<signed char, unsigned short, long, unsigned long>;
TYPED_TEST_SUITE(indices, index_types);

template <class I> class other_indices : public testing::Test {};
using other_index_types = testing::Types<char, unsigned char, char8_t, char16_t, char32_t, wchar_t,
                                         short, int, unsigned, long long, unsigned long long>;
TYPED_TEST_SUITE(other_indices, other_index_types);

constexpr std::size_t grains[] = {0, 1, 7, std::numeric_limits<std::size_t>::max()};

// What each loop does with [first, last), a short range whose length is `count`.
template <class I> void run_each_loop(I first, I last, std::uint64_t count) {
  for (const std::size_t grain : grains) {
    std::atomic<std::uint64_t> visits{0};
    std::atomic<std::uint64_t> sum{0};
    const auto place = [first](I i) {
      return static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(first);
    };
    nopal::for_index(
        first, last,
        [&](I i) {
          visits += 1;
          sum += place(i);
        },
        grain);
    EXPECT_EQ(visits, count);
    EXPECT_EQ(sum, count == 0 ? 0 : count * (count - 1) / 2);

    EXPECT_EQ(nopal::reduce(first, last, std::uint64_t{5}, std::plus<>{}, place, grain), 5 + sum);
    EXPECT_EQ(
        nopal::reduce(first, last, nopal::identity{std::uint64_t{0}}, std::plus<>{}, place, grain),
        sum);
    const auto before = [&](I i) { return place(i) + 1 < count; };
    const I stopped = nopal::for_index_while(first, last, before, grain);
    EXPECT_EQ(place(stopped), count == 0 ? 0 : count - 1);
    EXPECT_EQ(nopal::for_index_while(
                  first, last, [](I) { return true; }, grain),
              count == 0 ? first : last);
    const auto some = [&](I i) { return before(i) ? std::optional(place(i)) : std::nullopt; };
    EXPECT_EQ(nopal::reduce_while(first, last, std::uint64_t{5}, std::plus<>{}, some, grain),
              5 + (count == 0 ? 0 : sum - (count - 1)));
  }
}

TYPED_TEST(indices, both_ends_of_the_type) {
  using limits = std::numeric_limits<TypeParam>;
  const auto at = [](TypeParam from, int by) {
    return static_cast<TypeParam>(from + TypeParam(by));
  };
  for (const int count : {0, 1, 2, 100}) {
    const auto length = static_cast<std::uint64_t>(count);
    run_each_loop(limits::min(), at(limits::min(), count), length);
    run_each_loop(static_cast<TypeParam>(limits::max() - TypeParam(count)), limits::max(), length);
  }
  run_each_loop(limits::max(), limits::min(), 0);
}

TYPED_TEST(other_indices, both_ends_of_the_type) {
  using limits = std::numeric_limits<TypeParam>;
  const auto low = static_cast<TypeParam>(limits::min() + TypeParam(100));
  const auto high = static_cast<TypeParam>(limits::max() - TypeParam(100));
  std::atomic<int> visits{0};
  const auto visit = [&](TypeParam i) { visits += i < low || i >= high; };
  nopal::for_index(limits::min(), low, visit);
  nopal::for_index(high, limits::max(), visit);
  EXPECT_EQ(visits, 200);
  const auto before = [=](TypeParam i) { return i < low; };
  EXPECT_EQ(nopal::for_index_while(limits::min(), limits::max(), before), low);
}

// The range is the whole type; the loop stops after the first hundred values.
TYPED_TEST(indices, the_whole_type) {
  using limits = std::numeric_limits<TypeParam>;
  const auto stop = static_cast<TypeParam>(limits::min() + TypeParam(100));
  for (const std::size_t grain : grains) {
    const auto before = [=](TypeParam i) { return i < stop; };
    EXPECT_EQ(nopal::for_index_while(limits::min(), limits::max(), before, grain), stop);
    const auto some = [=](TypeParam i) { return i < stop ? std::optional(1) : std::nullopt; };
    EXPECT_EQ(nopal::reduce_while(limits::min(), limits::max(), 0, std::plus<>{}, some, grain),
              100);
  }
}

// Every iteration throws, since a piece that ran to its end would take years.
TYPED_TEST(indices, a_loop_over_the_whole_type_begins) {
  using limits = std::numeric_limits<TypeParam>;
  const auto fails = [](TypeParam) -> int { throw 1; };
  for (const std::size_t grain : grains) {
    EXPECT_THROW(nopal::for_index(limits::min(), limits::max(), fails, grain), int);
    EXPECT_THROW(nopal::reduce(limits::min(), limits::max(), 0, std::plus<>{}, fails, grain), int);
  }
}

template <class Expected, class First, class Last> long visits_in(First first, Last last) {
  std::atomic<long> visits{0};
  nopal::for_index(first, last, [&visits](auto i) {
    static_assert(std::is_same_v<decltype(i), Expected>);
    visits += 1;
  });
  return visits;
}

TEST(index, of_ends_of_two_types_has_the_common_one) {
  EXPECT_EQ((visits_in<std::size_t>(0, std::size_t{7})), 7);
  EXPECT_EQ((visits_in<long>(-3, 4L)), 7);
  EXPECT_EQ((visits_in<unsigned>(0u, 7)), 7);
  EXPECT_EQ((visits_in<int>(short{-3}, static_cast<unsigned char>(4))), 7);
  EXPECT_EQ((visits_in<char>('a', 'h')), 7);
  EXPECT_EQ((visits_in<char8_t>(u8'a', u8'h')), 7);
  EXPECT_EQ((visits_in<unsigned long long>(5, 12ull)), 7);
  enum { seven = 7 };
  long visits = 0;
  nopal::for_index(0, seven, [&visits](int) { ++visits; }, 100);
  EXPECT_EQ(visits, 7);
}

TEST(index, below_zero_ends_before_an_unsigned_beginning) {
  EXPECT_EQ((visits_in<unsigned>(0u, -7)), 0);
  EXPECT_EQ((visits_in<std::size_t>(std::size_t{0}, -1)), 0);
  EXPECT_EQ(nopal::for_index_while(3u, -7, [](unsigned) { return true; }), 3u);
  EXPECT_EQ(nopal::reduce(3u, -7, 4, std::plus<>{}, [](unsigned) { return 1; }), 4);
}

TEST(index, is_not_narrowed_to_the_type_of_the_beginning) {
  const std::size_t end = std::size_t{1} << 32; // 0, as an int
  const auto below_three = [](std::size_t i) { return i < 3; };
  const auto fails = [](std::size_t) -> int { throw 1; };
  EXPECT_EQ(nopal::for_index_while(0, end, below_three), 3u);
  EXPECT_THROW(nopal::for_index(0, end, fails), int);
  EXPECT_THROW(nopal::reduce(0, end, 0, std::plus<>{}, fails), int);
  const auto some = [](std::size_t i) { return i < 3 ? std::optional(1) : std::nullopt; };
  EXPECT_EQ(nopal::reduce_while(0, end, 0, std::plus<>{}, some), 3);
}

TEST(index, is_a_place_in_a_range_with_a_difference_type_of_more_than_64_bits) {
  std::atomic<long> sum{0};
  const auto numbers = std::views::iota(std::size_t{0}, std::size_t{1000});
  nopal::for_each(numbers, [&](std::size_t i) { sum += static_cast<long>(i); });
  EXPECT_EQ(sum, 499500);
  EXPECT_EQ(*nopal::find_if(numbers, [](std::size_t i) { return i >= 700; }), 700u);
  const auto all = std::views::iota(std::numeric_limits<long>::min(), //
                                    std::numeric_limits<long>::max());
  EXPECT_EQ(*nopal::find_if(all, [&](long i) { return i >= all[5]; }), all[5]);
  const auto counted = std::views::counted(numbers.begin(), 10); // of two types of ends
  EXPECT_EQ(nopal::for_each_while(counted, [](std::size_t) { return true; }), counted.end());
}

TEST(index, below_an_unsigned_end_ends_the_program_with_a_sentence) {
  EXPECT_EXIT(nopal::for_index(-5, std::size_t{3}, [](std::size_t) {}), testing::ExitedWithCode(70),
              "nopal: a loop begins at -5, but its other end has an unsigned type");
}

} // namespace nopal_test
