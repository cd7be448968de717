// SPDX-License-Identifier: MIT
// Where the standard's parallel algorithms are called: in forks, in each other, by foreign threads,
// under a lock, by strands that are to stop; and what they throw.
#include "nopal/cancel.h"
#include "nopal/fork.h"
#include "nopal/loop.h"
#include "nopal/sched/affine_call.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/worker.h"
#include "tests/api/support.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <execution>
#include <functional>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

long sum_to(int n) {
  std::vector<int> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1);
  return std::transform_reduce(std::execution::par, values.begin(), values.end(), 0L, std::plus<>{},
                               [](int i) { return long{i}; });
}

TEST(std_par, in_forks) {
  for (int round = 0; round < repetitions(50, 3); ++round) {
    nopal::scope s;
    long x = 0;
    long y = 0;
    s.fork(x, sum_to, 500);
    s.fork(y, sum_to, 400);
    const long z = sum_to(300);
    s.join();
    ASSERT_EQ(x + y + z, 125250 + 80200 + 45150);
  }
}

TEST(std_par, in_each_other) {
  const int n = repetitions(300, 10);
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(n));
  std::for_each(std::execution::par, rows.begin(), rows.end(), [n](std::vector<int>& row) {
    row.assign(static_cast<std::size_t>(2 * n), 1);
    std::inclusive_scan(std::execution::par, row.begin(), row.end(), row.begin());
    std::sort(std::execution::par, row.begin(), row.end(), std::greater<>{});
  });
  for (const std::vector<int>& row : rows) {
    ASSERT_EQ(row.front(), 2 * n);
    ASSERT_EQ(row.back(), 1);
  }
}

TEST(std_par, from_foreign_threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([] {
      for (int round = 0; round < repetitions(50, 3); ++round) {
        const pid_t before = thread_id();
        EXPECT_EQ(sum_to(1000), 500500);
        EXPECT_EQ(thread_id(), before);
      }
    });
  for (std::thread& each : threads)
    each.join();
}

// The program knows of no strands, so a call in a body comes back to its thread, as under a lock of
// that thread.
TEST(std_par, returns_on_the_thread_that_called) {
  std::vector<int> items(static_cast<std::size_t>(repetitions(200, 20)));
  std::mutex lock;
  std::for_each(std::execution::par, items.begin(), items.end(), [&](int& item) {
    const pid_t before = thread_id();
    if (lock.try_lock()) { // by no other body: the thread that waits runs none
      item = static_cast<int>(sum_to(100));
      lock.unlock();
    } else {
      item = static_cast<int>(sum_to(100));
    }
    EXPECT_EQ(thread_id(), before);
  });
  EXPECT_EQ(std::count(items.begin(), items.end(), 5050), static_cast<long>(items.size()));
}

// Such as the swaps between two pieces of a partition, of which there are thousands: a region for
// each would cost more than they, and all workers would meet at the lock of the table.
TEST(std_par, short_loops_in_a_strand_begin_no_region) {
  if (nopal::vproc::steals_forced())
    GTEST_SKIP() << "each fork waits for a thief";
  constexpr int rounds = 1000;
  int stayed = 0;
  nopal::scope s;
  s.fork([&] {
    if (!nopal::sched::affine_call::possible()) // as in check builds
      stayed = rounds;
    std::vector<char> in_strand(64);
    for (int round = 0; round < rounds; ++round) {
      const nopal::vproc::worker* const before = nopal::vproc::current();
      std::for_each(std::execution::par, in_strand.begin(), in_strand.end(),
                    [before](char& item) { item = nopal::vproc::current() == before ? 1 : 0; });
      stayed += std::count(in_strand.begin(), in_strand.end(), 1) == 64 ? 1 : 0;
    }
  });
  s.join();
  EXPECT_GT(stayed, rounds / 2); // a loop that is interrupted seems long, and may be shared
}

TEST(std_par, completes_in_a_strand_that_is_to_stop) {
  bool begun = false;
  long in_time = 0;
  long too_late = 0;
  std::vector<int> few(40);
  nopal::cancel_scope s;
  s.fork([&] {
    begun = true;
    in_time = sum_to(700);
    s.cancel();
    too_late = sum_to(900);
    std::for_each(std::execution::par, few.begin(), few.end(),
                  [](int& item) { nopal::for_index(0, 10, [&item](int) { item = 1; }, 10); });
    nopal::poll();
    ADD_FAILURE() << "the strand goes on";
  });
  EXPECT_FALSE(s.try_join());
  EXPECT_TRUE(begun);
  EXPECT_EQ(in_time, 245350);
  EXPECT_EQ(too_late, 405450);
  EXPECT_EQ(std::count(few.begin(), few.end(), 1), 40);
}

TEST(std_par, completes_behind_a_child_that_has_thrown) {
  long found = 0;
  EXPECT_THROW(
      {
        gate thrown;
        nopal::scope s;
        s.fork([&] {
          thrown.open();
          throw std::runtime_error{"first"};
        });
        s.fork([&] {
          thrown.wait();
          found = sum_to(800);
        });
        s.join();
      },
      std::runtime_error);
  EXPECT_TRUE(found == 0 || found == 320400) << found;
}

using std_par_death = death;

TEST_F(std_par_death, what_a_body_throws_ends_the_program) {
  std::vector<int> items(1000, 1);
  const auto say = [] {
    std::fputs("terminated\n", stderr);
    std::_Exit(3);
  };
  const auto throwing = [](int i) -> int {
    if (i == 1)
      throw std::runtime_error{"lost"};
    return i;
  };
  const auto dies = [&](auto call) {
    EXPECT_EXIT(
        {
          std::set_terminate(say);
          try {
            call();
          } catch (...) {
            std::fputs("caught\n", stderr);
          }
        },
        testing::ExitedWithCode(3), "terminated");
  };
  const auto first = items.begin();
  const auto last = items.end();
  dies([&] { std::for_each(std::execution::par, first, last, throwing); });
  dies(
      [&] { std::transform_reduce(std::execution::par, first, last, 0, std::plus<>{}, throwing); });
  dies([&] {
    std::sort(std::execution::par, first, last, [&](int a, int b) { return throwing(a) < b; });
  });
  dies([&] { std::for_each(std::execution::par_unseq, first, last, throwing); });
}

} // namespace
} // namespace nopal_test
