// SPDX-License-Identifier: MIT
// Lazy splitting: each iteration once and in order within a strand, whatever the bodies cost.
#include "nopal/affine.h"
#include "nopal/algorithms/lazy.h"
#include "nopal/base/os.h"
#include "nopal/cancel.h"
#include "nopal/for_range.h"
#include "nopal/fork.h"
#include "nopal/loop.h"
#include "nopal/pstl/loops.h"
#include "nopal/runtime.h"
#include "nopal/sort.h"
#include "tests/algorithms/support.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nopal_test {
namespace {

// Joins pieces to one; they must come in their order.
struct concatenation {
  struct part {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool broken = false;
  };
  part begin() const { return {}; }
  void extend(part& to, std::size_t from, std::size_t count) const {
    if (to.begin == to.end)
      to.begin = to.end = from;
    to.broken = to.broken || from != to.end || count == 0;
    to.end = from + count;
  }
  void unite(part& low, part&& high) const {
    low.broken = low.broken || high.broken || low.end != high.begin;
    low.end = high.end;
  }
};

TEST(lazy, parts_are_united_in_order) {
  for (const std::size_t size : sizes()) {
    concatenation::part all;
    nopal::algorithms::fold_lazily(size, concatenation{}, all);
    ASSERT_FALSE(all.broken);
    ASSERT_EQ(all.end - all.begin, size);
  }
}

TEST(lazy, each_index_once) {
  for (const std::size_t size : sizes()) {
    std::vector<unsigned char> seen(size);
    nopal::for_index(std::size_t{0}, size, [&seen](std::size_t i) { ++seen[i]; });
    ASSERT_EQ(seen, std::vector<unsigned char>(size, 1));
  }
}

// Iterations that get dearer, cheaper, and a few dear ones among cheap ones.
TEST(lazy, of_irregular_iterations) {
  const std::size_t size = steals_forced() ? 300 : 3000;
  const std::function<std::size_t(std::size_t)> costs[] = {
      [](std::size_t i) { return i; }, [size](std::size_t i) { return size - i; },
      [](std::size_t i) { return i % 997 == 996 ? std::size_t{200000} : std::size_t{1}; }};
  for (const auto& cost : costs) {
    std::vector<std::size_t> sums(size);
    nopal::for_index(std::size_t{0}, size, [&](std::size_t i) {
      volatile std::size_t sum = 0;
      for (std::size_t k = 0; k < cost(i); ++k)
        sum = sum + k;
      sums[i] = sum + 1;
    });
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_EQ(sums[i], cost(i) * (cost(i) - (cost(i) == 0 ? 0 : 1)) / 2 + 1);
  }
}

TEST(lazy, nested) {
  const std::size_t size = steals_forced() ? 20 : 200;
  std::vector<std::atomic<unsigned>> seen(size);
  nopal::for_index(std::size_t{0}, size, [&](std::size_t i) {
    nopal::for_index(std::size_t{0}, i, [&](std::size_t k) { seen[k].fetch_add(1); });
  });
  for (std::size_t k = 0; k < size; ++k)
    ASSERT_EQ(seen[k], size - 1 - k);
}

TEST(lazy, throws_what_the_serially_first_iteration_throws) {
  for (const int size : {1, 2, 100, 10000})
    for (const int first : {0, size / 2, size - 1}) {
      try {
        nopal::for_index(0, size, [first](int i) {
          if (i >= first)
            throw i;
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const int thrown) {
        ASSERT_EQ(thrown, first);
      }
    }
}

#if !defined(NOPAL_SERIAL)
// Each iteration waits until both are running: one of them is stolen from a loop that has told
// nobody its grain.
TEST(lazy, gives_a_half_away) {
  if (nopal::num_workers() < 2)
    GTEST_SKIP() << "one worker";
  std::atomic<int> running{0};
  nopal::for_index(0, 2, [&running](int) {
    running.fetch_add(1);
    while (running.load() < 2)
      std::this_thread::yield();
  });
  EXPECT_EQ(running, 2);
}

// Behind iterations that take longer than a loop runs before it forks, one waits for the last. That
// is reached only if what is behind the waiting one was given away.
TEST(lazy, gives_the_rest_away_when_its_half_was_taken) {
  if (nopal::num_workers() < 2)
    GTEST_SKIP() << "one worker";
  for (const int size : {10, 1000, 100000}) {
    std::atomic<bool> last_ran{false};
    nopal::for_index(0, size, [&](int i) {
      volatile int steps = 0;
      while (steps < 100)
        steps = steps + 1;
      if (i == size - 1)
        last_ran.store(true);
      while (i == size / 3 && !last_ran.load())
        std::this_thread::yield();
    });
    EXPECT_TRUE(last_ran);
  }
}

// A request that stands is not heeded: a fork would have restored the limit. The clock may tell of
// another program's turn now and then.
TEST(lazy, short_loops_give_nothing_away_though_thieves_ask) {
  if (steals_forced())
    GTEST_SKIP() << "each fork is public";
  const int size = static_cast<int>(16 * nopal::num_workers());
  std::vector<int> out(static_cast<std::size_t>(size));
  bool unheeded = false;
  for (int run = 0; run < 1000 && !unheeded; ++run)
    nopal::affine([&] {
      nopal::vproc::current_deque()->deque.ask();
      nopal::for_index(0, size, [&out](int i) { out[static_cast<std::size_t>(i)] += i; });
      unheeded = !nopal::vproc::current_deque()->deque.allows_here();
    });
  EXPECT_TRUE(unheeded);
}

// Behind a dear iteration among cheap ones, one waits for the last.
TEST(lazy, a_short_loop_is_shared_once_an_iteration_was_dear) {
  if (nopal::num_workers() < 2)
    GTEST_SKIP() << "one worker";
  std::atomic<bool> last_ran{false};
  nopal::for_index(0, 1000, [&](int i) {
    volatile int steps = 0;
    while (i == 20 && steps < 1000000) // the dear one
      steps = steps + 1;
    if (i == 999)
      last_ran.store(true);
    while (i == 500 && !last_ran.load())
      std::this_thread::yield();
  });
  EXPECT_TRUE(last_ran);
}

// Such as memory that each piece clears. Shorter pieces take as long, so many of them take longer.
TEST(lazy, pieces_grow_where_each_of_them_is_dear) {
  if (steals_forced())
    GTEST_SKIP() << "the clock decides nothing";
  constexpr int size = 1 << 16;
  for (const std::uint64_t least : {20'000u, 100'000u}) { // cycles
    std::atomic<int> pieces{0};
    nopal::for_range(0, size, [&pieces, least](int, int) {
      pieces.fetch_add(1);
      const std::uint64_t begun = nopal::base::cycles();
      while (nopal::base::cycles() - begun < least) {
      }
    });
    EXPECT_LT(pieces, size / 8) << least;
  }
}

// Pieces that grow from one iteration and shrink to one would be thirteen.
TEST(lazy, a_loop_whose_like_was_short_has_few_pieces) {
  if (steals_forced())
    GTEST_SKIP() << "the clock decides nothing";
  int least = 1000;
  for (int loop = 0; loop < 100; ++loop) {
    std::atomic<int> pieces{0};
    nopal::for_range(0, 1000, [&pieces](int, int) { pieces.fetch_add(1); });
    least = std::min(least, pieces.load());
  }
  EXPECT_LE(least, 3);
}

// 90 iterations were a good piece where another strand chose them; here each takes 2^14 cycles.
TEST(lazy, a_strand_begins_with_no_piece_that_is_known_to_take_long) {
  nopal::algorithms::past_cost past;
  past.note(std::uint64_t{1 << 14} * nopal::algorithms::past_cost::unit, 1 << 20);
  nopal::algorithms::pace all{10'000, 1, past.get()};
  all.piece.store(90, nopal::base::relaxed);
  EXPECT_LE(nopal::algorithms::own_pace{all}.piece(10'000), 16u);
  all.cost.store(nopal::algorithms::past_cost::unit, nopal::base::relaxed);
  EXPECT_EQ(nopal::algorithms::own_pace{all}.piece(10'000), 90u);
}

// Of two iterations, where the first took less than both were expected to.
TEST(lazy, a_short_loop_of_known_cost_is_measured_to_its_end_now_and_then) {
  constexpr int loops = 1000;
  int unmeasured = 0;
  for (int loop = 0; loop < loops; ++loop) {
    nopal::algorithms::pace all{2, 1, nopal::algorithms::past_cost::unit << 10};
    {
      nopal::algorithms::own_pace own{all};
      for (std::size_t rest = 2; rest-- != 0;) {
        own.begin(true);
        own.end(1, rest);
      }
    }
    unmeasured += all.unmeasured;
    EXPECT_EQ(all.measured.load(nopal::base::relaxed), all.unmeasured ? 1u : 2u);
  }
  EXPECT_GT(unmeasured, 0);
  EXPECT_LT(unmeasured, loops);
}

// As a stable partition does, each piece passes over all that its strand has before it.
TEST(lazy, what_is_dear_to_continue_goes_on_in_growing_pieces) {
  constexpr int size = 100'000;
  std::atomic<long> passed{0};
  const auto body = [&passed](int from, int to, int before) {
    passed.fetch_add(before);
    return before + to - from;
  };
  EXPECT_EQ(nopal::pstl::reduce(0, size, 0, body, std::plus<>{}), size);
  EXPECT_LT(passed, (steals_forced() ? 100L : 8L) * size);
}

TEST(lazy, remembers_what_was_dear_for_a_while) {
  nopal::algorithms::past_cost past;
  past.note(0, 0);
  EXPECT_EQ(past.get(), 0u);
  for (const auto& [now, remembered] : std::initializer_list<std::pair<unsigned, unsigned>>{
           {1000, 1000}, {1900, 1000}, {600, 1000}, {0, 1000}, {8, 250}, {8, 62}, {9000, 9000}}) {
    past.note(now, 1 << 20);
    EXPECT_EQ(past.get(), remembered);
  }
  past.note(90000, 100); // of a loop that was too short to tell
  EXPECT_EQ(past.get(), 9000u);
  past.note(2500, 100);
  EXPECT_EQ(past.get(), 2500u);
}

// Pieces of one iteration, which is as long as they may be, are measured all the same.
TEST(lazy, short_loops_forget_that_one_was_interrupted) {
  nopal::algorithms::past_cost past;
  past.note(1u << 28, 1u << 28);
  nopal::scope s;
  s.fork([&past] {
    for (int run = 0; run < 100; ++run)
      nopal::algorithms::for_pieces(40, [](std::size_t, std::size_t) {}, 1, past);
  });
  s.join();
  EXPECT_LT(past.get(), 1u << 20);
}

TEST(lazy, stops_between_pieces_where_it_is_cancelled) {
  nopal::cancel_scope s;
  std::atomic<int> ran{0};
  const int size = 1 << 20;
  s.fork([&] {
    nopal::for_index(0, size, [&](int) {
      if (ran.fetch_add(1) == 100)
        s.cancel();
    });
  });
  EXPECT_FALSE(s.try_join());
  EXPECT_LT(ran, size);
}

TEST(lazy, a_sort_stops_where_it_is_cancelled) {
  std::vector<owner> all = owners(30000);
  nopal::cancel_scope s;
  std::atomic<int> compared{0};
  s.fork([&] {
    nopal::sort(all, [&](const owner& x, const owner& y) {
      if (compared.fetch_add(1) == 1000)
        s.cancel();
      return x.key() < y.key();
    });
  });
  EXPECT_FALSE(s.try_join());
  EXPECT_EQ(owner::alive(), 30000);
}
#endif

} // namespace
} // namespace nopal_test
