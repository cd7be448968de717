// SPDX-License-Identifier: MIT
// How threads of the pool begin and end, and what the next pool finds of the one before.
#include "nopal/base/atomic.h"
#include "nopal/vproc/overflow.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/threads.h"
#include "tests/api/support.h"
#include "tests/vproc/nouns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

namespace nopal_test {
namespace {

using namespace nopal::vproc;

std::atomic<unsigned> workers_begun{0};

worker* run_until_the_end(worker* self) noexcept {
  workers_begun.fetch_add(1);
  while (!is_to_end(self->host))
    std::this_thread::yield();
  return self;
}

// Begins and ends a pool with `threads` threads, and returns the pool's size.
unsigned run_pool(unsigned threads) {
  workers_begun = 0;
  start_pool_threads(options_in_force(), options_asked(), run_until_the_end);
  wait_until([threads] { return workers_begun == threads; });
  tell_pool_threads_to_end();
  join_pool_threads();
  return pool_size();
}

TEST(threads, a_pool_has_one_less_than_workers_and_the_next_one_uses_its_vprocs) {
  EXPECT_EQ(apart([] {
              set_options({.num_workers = 4});
              const unsigned first = run_pool(3);
              return 10 * first + run_pool(3);
            }),
            33u);
}

// Vprocs of the pool that are no spares are places.
unsigned places() {
  unsigned count = 0;
  for (std::uint32_t i = 0; i < pool_size(); ++i)
    count += pool_vproc(i)->spare.get() ? 0 : 1;
  return count;
}

TEST(threads, a_smaller_pool_has_fewer_places) {
  EXPECT_EQ(apart([] {
              set_options({.num_workers = 5});
              run_pool(4);
              const nopal::config::options asked = options_asked();
              nopal::config::resolved_options smaller = options_in_force();
              const auto run = [&](unsigned workers) {
                workers_begun = 0;
                smaller.num_workers.value = workers;
                start_pool_threads(smaller, asked, run_until_the_end);
                wait_until([workers] { return workers_begun == workers - 1; });
                const unsigned count = places();
                tell_pool_threads_to_end();
                join_pool_threads();
                return count;
              };
              const unsigned fewer = run(3);
              return 100 * fewer + 10 * run(2) + run(5);
            }),
            214u);
}

TEST(threads, callbacks_run_where_threads_begin_and_end) {
  EXPECT_EQ(apart([] {
              static std::atomic<unsigned> starts{0};
              static std::atomic<unsigned> ends{0};
              static std::atomic<unsigned> elsewhere{0};
              static thread_local bool started = false;
              set_options({.num_workers = 3,
                           .on_worker_start =
                               [] {
                                 started = true;
                                 ++starts;
                               },
                           .on_worker_end =
                               [] {
                                 ++ends;
                                 elsewhere += started ? 0 : 1;
                               }});
              run_pool(2);
              return 100 * elsewhere + 10 * starts + ends;
            }),
            22u);
}

TEST(threads, no_spare_starts_once_the_pool_has_ended) {
  EXPECT_EQ(apart([] {
              set_options({.num_workers = 2});
              const bool before = start_spare();
              run_pool(1);
              return !before && !start_spare() ? 1 : 0;
            }),
            1u);
}

std::atomic<bool> helped{false};

TEST(threads, a_helper_runs_no_strands) {
  start_helper(
      [](void*) noexcept -> void* {
        helped = !on_strand();
        return nullptr;
      },
      "helps this test");
  wait_until([] { return helped.load(); });
}

TEST(overflow, the_end_of_a_threads_own_stack_is_known_once_it_is_reported) {
  std::uintptr_t before = 1;
  std::uintptr_t low = 0;
  std::uintptr_t of_pool = 0;
  std::uintptr_t inside = 0;
  int error = 0;
  std::thread([&] {
    before = lowest_of_this_threads_stack();
    errno = 7;
    report_overflow_of_own_stack();
    error = errno;
    low = lowest_of_this_threads_stack();
    report_overflow_of_own_stack(true);
    of_pool = lowest_of_this_threads_stack();
    inside = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }).join();
  EXPECT_EQ(before, 0u);
  EXPECT_LT(low, inside);
  EXPECT_LT(inside - low, std::uintptr_t{1} << 30);
  EXPECT_EQ(of_pool, low);
  EXPECT_EQ(error, 7) << "errno is the strand's";
}

class threads_death : public death {};

TEST_F(threads_death, a_callback_that_throws) {
  EXPECT_DEATH(
      {
        set_options({.num_workers = 2, .on_worker_start = [] { throw 1; }});
        run_pool(1);
      },
      "on_worker_start, a callback given to nopal::configure, was left by an exception");
}

TEST_F(threads_death, a_callback_that_forks) {
  EXPECT_DEATH(
      {
        set_options({.num_workers = 2, .on_worker_end = [] { check_no_callback(); }});
        run_pool(1);
      },
      "on_worker_end of a pool's thread forks, or stops the workers");
}

} // namespace
} // namespace nopal_test
