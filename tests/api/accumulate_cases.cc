// SPDX-License-Identifier: MIT
// Values that loops add to: how often they are made, copied and moved, and that the order is kept.
#include "nopal/accumulate.h"
#include "nopal/cancel.h"
#include "nopal/find.h"
#include "nopal/for_range.h"
#include "tests/api/counted_value.h"
#include "tests/api/support.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace nopal_test {
namespace {

int pieces(int count, std::size_t grain) {
  if (grain == 0) { // all of the same length but the last
    const int length =
        static_cast<int>(nopal::detail::grain_of(static_cast<std::size_t>(count), 0));
    return (count + length - 1) / length;
  }
  std::atomic<int> number{0};
  nopal::for_range(0, count, [&](int, int) { ++number; }, grain);
  return number;
}

// Adds a letter, or what lies behind.
struct append {
  void operator()(counted_value& all, char c) const { all.text += c; }
  void operator()(counted_value& all, counted_value&& behind) const { all.text += behind.text; }
};

TEST(reduce_in_place, copies_an_identity_for_each_piece_and_nothing_else) {
  for (const std::size_t grain : {std::size_t{0}, std::size_t{1}, std::size_t{64}}) {
    counted_value::reset();
    {
      const counted_value all =
          nopal::reduce(0, 1000, nopal::identity{counted_value{}}, append{}, letter, grain);
      EXPECT_EQ(all.text, letters(0, 1000));
    }
    EXPECT_EQ(counted_value::copies, pieces(1000, grain));
    EXPECT_EQ(counted_value::alive, 0);
  }
}

// [low, high) halved where the lower half is the largest power of two.
std::string brackets(int low, int high) {
  if (high - low == 1)
    return std::to_string(low);
  int half = 1;
  while (2 * half < high - low)
    half *= 2;
  return "(" + brackets(low, low + half) + " " + brackets(low + half, high) + ")";
}

TEST(reduce, has_the_brackets_of_one_tree_wherever_it_is_split) {
  const auto combine = [](std::string&& low, std::string&& high) {
    return "(" + std::move(low) + " " + std::move(high) + ")";
  };
  const auto text = [](int i) { return std::to_string(i); };
  for (int count = 1; count <= 70; ++count) // fewer than there are pieces
    EXPECT_EQ(nopal::reduce(1, count, text(0), combine, text),
              count == 1 ? "0" : "(0 " + brackets(1, count) + ")");
  for (int repeat = 0; repeat < repetitions(20, 100); ++repeat)
    EXPECT_EQ(nopal::reduce(0, 500, std::string{"-"}, combine, text),
              "(- " + brackets(0, 500) + ")");
}

TEST(reduce_in_place, moves_values_for_pieces_and_not_for_elements) {
  counted_value::reset();
  nopal::reduce(0, 100, nopal::identity{counted_value{}}, append{}, letter, 25);
  const int moves = counted_value::moves;
  counted_value::reset();
  nopal::reduce(0, 10000, nopal::identity{counted_value{}}, append{}, letter, 2500);
  EXPECT_EQ(counted_value::moves, moves) << "as many pieces";
  EXPECT_EQ(counted_value::copies, 4);
  EXPECT_LE(moves, 10 * 4);
}

TEST(reduce_in_place, with_a_first_value_copies_nothing) {
  counted_value::reset();
  const counted_value all = nopal::reduce(
      0, 1000, counted_value{"<"}, append{},
      [](int i) { return counted_value{std::string(1, letter(i))}; }, 10);
  EXPECT_EQ(all.text, "<" + letters(0, 1000));
  EXPECT_EQ(counted_value::copies, 0);
}

TEST(reduce_in_place, takes_a_combination_that_returns_its_first_argument) {
  const auto append_to = [](std::string& low, const std::string& high) -> std::string& {
    return low += high;
  };
  const auto text = [](int i) { return std::string(1, letter(i)); };
  EXPECT_EQ(nopal::reduce(0, 777, std::string{"<"}, append_to, text, 5), "<" + letters(0, 777));
}

TEST(reduce_in_place, takes_a_combination_that_returns_another_value) {
  const auto larger = [](int& low, const int& high) -> int& {
    return high > low ? const_cast<int&>(high) : low;
  };
  EXPECT_EQ(nopal::reduce(0, 1000, -1, larger, [](int i) { return i * 37 % 1000; }, 3), 999);
}

TEST(reduce_in_place, prefers_a_combination_of_values) {
  const auto sum = [](auto&& low, auto&& high) { return low + high; };
  EXPECT_EQ(nopal::reduce(0, 1000, 0, sum, [](int i) { return i; }, 7), 499500);
}

TEST(reduce_in_place, of_values_that_only_move) {
  const auto all = nopal::reduce(
      0, 1000, std::make_unique<long>(0),
      [](std::unique_ptr<long>& low, std::unique_ptr<long> high) { *low += *high; },
      [](int i) { return std::make_unique<long>(i); });
  EXPECT_EQ(*all, 499500);
}

TEST(reduce_in_place, of_a_loop_that_stops) {
  const auto some = nopal::reduce_while(
      0, 1000, std::string{"<"}, [](std::string& low, std::string&& high) { low += high; },
      [](int i) { return i < 500 ? std::optional{std::string(1, letter(i))} : std::nullopt; }, 3);
  EXPECT_EQ(some, "<" + letters(0, 500));
}

TEST(reduce_in_place, lets_an_exception_of_the_combination_through) {
  counted_value::reset();
  const auto fails = [](counted_value& low, auto&& high) {
    if (low.text.size() > 100)
      throw std::runtime_error("meant");
    append{}(low, std::forward<decltype(high)>(high));
  };
  EXPECT_THROW(nopal::reduce(0, 1000, nopal::identity{counted_value{}}, fails, letter, 10),
               std::runtime_error);
  EXPECT_EQ(counted_value::alive, 0);
}

struct numbers_of {
  std::atomic<int> made{0};
  std::atomic<int> merged{0};

  std::string gather(int count, std::size_t grain = 0) {
    return nopal::accumulate(
        0, count,
        [this] {
          ++made;
          return std::string{};
        },
        [](std::string& all, int i) { all += letter(i); },
        [this](std::string& low, std::string&& high) {
          ++merged;
          low += high;
        },
        grain);
  }
};

TEST(accumulate, keeps_the_order) {
  for (const std::size_t grain : {0u, 1u, 3u, 5000u}) {
    numbers_of calls;
    for (const int count : {0, 1, 2, 3, 100, 999})
      ASSERT_EQ(calls.gather(count, grain), letters(0, count));
  }
}

TEST(accumulate, makes_a_value_for_each_steal) {
  numbers_of calls;
  const auto before = nopal::stats().steals;
  calls.gather(repetitions(20000, 500), 1);
  EXPECT_EQ(calls.made, calls.merged + 1);
  EXPECT_LE(static_cast<std::uint64_t>(calls.merged), nopal::stats().steals - before);
  if (nopal::num_workers() == 1) {
    EXPECT_EQ(calls.made, 1) << "nobody steals";
  }
  if (nopal::vproc::steals_forced()) {
    EXPECT_GT(calls.made, 1);
  }
}

TEST(accumulate, of_values_that_only_move) {
  const auto sum = nopal::accumulate(
      0u, 1000u, [] { return std::make_unique<long>(0); },
      [](std::unique_ptr<long>& all, unsigned i) { *all += i; },
      [](std::unique_ptr<long>& low, std::unique_ptr<long> high) { *low += *high; }, 1);
  EXPECT_EQ(*sum, 499500);
}

TEST(accumulate, of_maps_counts_each_word) {
  using counts = std::unordered_map<int, int>;
  const counts all = nopal::accumulate(
      0, 6000, [] { return counts{}; }, [](counts& some, int i) { ++some[i % 60]; },
      [](counts& low, counts&& high) {
        for (const auto& [word, number] : high)
          low[word] += number;
      });
  ASSERT_EQ(all.size(), 60u);
  for (const auto& [word, number] : all)
    EXPECT_EQ(number, 100) << word;
}

TEST(accumulate, throws_what_the_smallest_index_throws) {
  for (int round = 0; round < repetitions(50, 5); ++round) {
    counted_value::reset();
    int thrown = -1;
    try {
      nopal::accumulate(
          0, 200, [] { return counted_value{}; },
          [](counted_value& all, int i) {
            all.text += letter(i);
            if (i % 50 == 40)
              throw i;
          },
          append{}, 1);
    } catch (const int i) {
      thrown = i;
    }
    ASSERT_EQ(thrown, 40);
    ASSERT_EQ(counted_value::alive, 0);
  }
}

TEST(accumulate, is_cancelled_between_pieces) {
  counted_value::reset();
  std::atomic<int> added{0};
  bool returned = false;
  {
    nopal::cancel_scope s;
    s.fork([&] {
      nopal::accumulate(
          0, 100000, [] { return counted_value{}; },
          [&](counted_value& all, int i) {
            all.text = letter(i);
            if (++added == 10)
              s.cancel();
          },
          append{}, 1);
      returned = true;
    });
    EXPECT_FALSE(s.try_join());
  }
  EXPECT_FALSE(returned);
  EXPECT_LT(added, 100000);
  EXPECT_EQ(counted_value::alive, 0);
}

TEST(accumulate, nests) {
  const long all = nopal::accumulate(
      0, 50, [] { return 0L; },
      [](long& sum, int i) {
        sum += nopal::accumulate(
            0, 50, [] { return 0L; }, [i](long& inner, int k) { inner += i * k; },
            [](long& low, long high) { low += high; }, 1);
      },
      [](long& low, long high) { low += high; }, 1);
  EXPECT_EQ(all, 1225L * 1225L);
}

} // namespace
} // namespace nopal_test
