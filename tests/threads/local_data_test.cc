// SPDX-License-Identifier: MIT
// A program with much thread-local data: every thread that Nopal starts has its copy, and room for
// its frames besides.
#include "nopal/base/die.h"
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"
#include "tests/threads/local_data.h"

#include <sys/resource.h>

#include <chrono>
#include <stop_token>
#include <thread>

namespace nopal_test {
namespace {

class threads_death : public death {};
using threads = threads_death;

long right_in_all_strands(int n) {
  if (n < 2)
    return data_is_right() ? n : 1000;
  nopal::scope s;
  long x;
  s.fork(x, right_in_all_strands, n - 1);
  const long y = right_in_all_strands(n - 2);
  s.join();
  return x + y;
}

TEST_F(threads, of_the_pool_have_their_data_and_room) {
  for (const unsigned workers : {1u, 2u, 8u})
    EXPECT_EQ(apart([workers] {
                nopal::configure({.num_workers = workers});
                for (unsigned stolen = 1; stolen < workers; ++stolen)
                  be_stolen();
                return right_in_all_strands(15);
              }),
              610u)
        << workers << " workers";
}

// As many strands block as there are workers, and go on when a spare has run the last one.
TEST_F(threads, that_stand_in_for_blocked_ones_have_them) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 2});
              gate opened;
              std::atomic<int> right{0};
              nopal::scope s;
              for (int i = 0; i < 2; ++i)
                s.fork([&] {
                  nopal::blocking([&] { opened.wait(); });
                  right += data_is_right() ? 1 : 0;
                });
              nopal::blocking([&] { right += data_is_right() ? 1 : 0; });
              opened.open();
              s.join();
              return right.load();
            }),
            3u);
}

// The thread of deadlines runs the callback.
TEST_F(threads, that_watch_deadlines_have_them) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 2});
              std::atomic<int> right{-1};
              nopal::run([&] {
                nopal::spawn([&] {
                  nopal::cancel_scope s{std::chrono::milliseconds{1}};
                  const std::stop_callback look{s.token(),
                                                [&] { right = data_is_right() ? 1 : 0; }};
                  while (right.load() == -1)
                    std::this_thread::yield();
                });
              });
              return right.load();
            }),
            1u);
}

// Fibers that never wait take turns because the timer's thread says so.
TEST_F(threads, that_preempt_fibers_have_them) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 1, .tick = 1});
              std::atomic<bool> other{false};
              bool right = false;
              nopal::run([&] {
                nopal::spawn([&] {
                  while (!other.load())
                    nopal::poll();
                });
                nopal::spawn([&] {
                  right = data_is_right();
                  other = true;
                });
              });
              return right;
            }),
            1u);
}

TEST_F(threads_death, whose_memory_is_refused) {
  if (DATA_BYTES < 16 << 20)
    GTEST_SKIP() << "about programs whose threads take much memory";
  EXPECT_EXIT(
      {
        rlimit limit{};
        limit.rlim_cur = limit.rlim_max = std::size_t{1} << 30;
        setrlimit(RLIMIT_AS, &limit);
        nopal::configure({.num_workers = 200});
        fib(5);
      },
      testing::ExitedWithCode(nopal::base::exit_status_died),
      "^nopal: cannot start worker [0-9]+ of 200 with a stack of [0-9]+ KiB, [0-9]+ KiB of them "
      "for the program's thread-local data: .*lower NOPAL_NUM_WORKERS\n$");
}

} // namespace
} // namespace nopal_test
