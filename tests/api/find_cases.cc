// SPDX-License-Identifier: MIT
// Loops that stop early: the answer is that of the serial loop.
#include "nopal/find.h"

#include "nopal/cancel.h"
#include "tests/api/numbered.h"
#include "tests/api/support.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

namespace nopal_test {
namespace {

std::vector<int> numbered_items(int count) {
  std::vector<int> items(static_cast<std::size_t>(count));
  std::iota(items.begin(), items.end(), 0);
  return items;
}

TEST(find_if, finds_the_first) {
  const std::vector<int> items = numbered_items(3000);
  for (const int from : {0, 1, 7, 1499, 1500, 2998, 2999, 3000})
    for (const std::size_t grain : {std::size_t{0}, std::size_t{1}, std::size_t{5000}})
      EXPECT_EQ(
          nopal::find_if(items, [from](int x) { return x >= from; }, grain) - items.begin(), from);
}

TEST(find_if, of_nothing_is_the_end) {
  const std::vector<int> none;
  EXPECT_EQ(nopal::find_if(none, [](int) { return true; }), none.end());
}

TEST(find_if, of_several_finds_the_first_whoever_is_sooner) {
  const std::vector<int> items = numbered_items(64);
  for (int round = 0; round < 300; ++round) {
    gate second;
    const auto wanted = [&](int x) {
      if (x == 3)
        second.wait(); // until a later one is found
      else if (x == 60)
        second.open();
      return x == 3 || x == 60;
    };
    EXPECT_EQ(*nopal::find_if(items, wanted, 1), 3);
  }
}

TEST(find_if, stops_what_comes_behind_the_answer) {
  const std::vector<int> items = numbered_items(64);
  for (int round = 0; round < 300; ++round) {
    gate running;
    EXPECT_EQ(*nopal::find_if(
                  items,
                  [&](int x) {
                    if (x == 0)
                      running.wait();
                    while (x > 0) { // without an end of its own
                      running.open();
                      nopal::poll();
                    }
                    return true;
                  },
                  1),
              0);
  }
}

TEST(for_index_while, runs_all_before_the_one_that_stops_it) {
  for (const int stop : {0, 1, 500, 999, 1000}) {
    std::vector<std::atomic<int>> ran(1000);
    EXPECT_EQ(nopal::for_index_while(
                  0, 1000,
                  [&](int i) {
                    ran[static_cast<std::size_t>(i)] += 1;
                    return i < stop;
                  },
                  1),
              stop);
    EXPECT_TRUE(std::all_of(ran.begin(), ran.begin() + stop, [](const auto& n) { return n == 1; }));
    EXPECT_TRUE(std::all_of(ran.begin(), ran.end(), [](const auto& n) { return n <= 1; }));
  }
  EXPECT_EQ(nopal::for_index_while(5, 2, [](int) { return true; }), 5);
}

TEST(for_index_while, throws_what_the_serial_loop_throws) {
  for (int round = 0; round < 100; ++round) {
    const auto f = [](int i) {
      if (i == 70)
        throw numbered(i);
      return i != 80;
    };
    EXPECT_THROW(nopal::for_index_while(0, 100, f, 1), numbered);
    const auto stops_before = [](int i) {
      if (i == 90)
        throw numbered(i);
      return i != 80;
    };
    EXPECT_EQ(nopal::for_index_while(0, 100, stops_before, 1), 80);
  }
}

TEST(for_index_while, is_cancelled_from_outside) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    nopal::cancel_scope s;
    int stopped = -1;
    s.fork(stopped, [&] {
      return nopal::for_index_while(
          0, 1 << 30,
          [&](int) {
            running.open();
            return true;
          },
          1);
    });
    running.wait();
    s.cancel();
    EXPECT_FALSE(s.try_join());
    EXPECT_EQ(stopped, -1);
  }
}

// Behind the iteration that stops the loop, thieves have begun pieces that take centuries.
TEST(for_index_while, of_a_range_that_nobody_can_finish_ends) {
  constexpr auto all = std::numeric_limits<unsigned long>::max();
  for (const unsigned long stop : {0ul, 777ul, 1'000'000ul}) {
    const auto before = [stop](unsigned long i) {
      asm volatile("" : : : "memory"); // else the compiler computes the end
      return i != stop;
    };
    EXPECT_EQ(nopal::for_index_while(0ul, all, before), stop);
    const auto some = [&](unsigned long i) {
      return before(i) ? std::optional(1ul) : std::nullopt;
    };
    EXPECT_EQ(nopal::reduce_while(0ul, all, 0ul, std::plus<>{}, some), stop);
  }
}

TEST(reduce_while, reduces_all_before_the_first_without_a_value) {
  for (const int stop : {0, 1, 777, 1000}) {
    const auto map = [stop](int i) { return i < stop ? std::optional<long>(i) : std::nullopt; };
    EXPECT_EQ(nopal::reduce_while(0, 1000, 0L, std::plus<>{}, map, 1), long{stop} * (stop - 1) / 2);
  }
}

} // namespace
} // namespace nopal_test
