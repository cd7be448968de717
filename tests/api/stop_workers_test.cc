// SPDX-License-Identifier: MIT
// The end of the pool's threads at a point that the program chooses, and callbacks when they begin
// and end.
#include "nopal/base/die.h"
#include "nopal/base/sanitizer.h"
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "tests/api/support.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

namespace nopal_test {
namespace {

class stop_workers_death : public death {};
using stop_workers = stop_workers_death;

const auto died = testing::ExitedWithCode(nopal::base::exit_status_died);

std::atomic<long> flushed{0};
struct buffer {
  long kept = 0;
  ~buffer() { flushed += kept; }
};
thread_local buffer threads_buffer;
[[gnu::noinline]] void keep(long value) { threads_buffer.kept += value; }
[[gnu::noinline]] long take_own() { return std::exchange(threads_buffer.kept, 0); }

// A sanitizer has threads of its own, which come and go.
int threads_now() {
  if (nopal::base::a_tool_watches())
    return 0;
  int count = 0;
  if (DIR* const tasks = opendir("/proc/self/task")) {
    while (const dirent* const entry = readdir(tasks))
      count += entry->d_name[0] != '.' ? 1 : 0;
    closedir(tasks);
  }
  return count;
}

TEST_F(stop_workers, flushes_the_threads_buffers) {
  for (const unsigned workers : {1u, 2u, 8u})
    EXPECT_EQ(apart([workers] {
                nopal::configure({.num_workers = workers});
                std::atomic<unsigned> arrived{0};
                nopal::scope s;
                for (unsigned i = 1; i < workers; ++i) // each on a thread of its own
                  s.fork([&] {
                    keep(1);
                    for (arrived += 1; arrived.load() < workers;)
                      std::this_thread::yield();
                  });
                keep(1);
                arrived += 1;
                s.join();
                const long own = take_own();
                nopal::stop_workers();
                return own + flushed.load();
              }),
              workers)
        << workers << " workers";
}

TEST_F(stop_workers, leaves_no_thread_of_the_pool_and_the_next_fork_starts_others) {
  for (const unsigned workers : {1u, 2u, 8u})
    EXPECT_EQ(apart([workers] {
                nopal::configure({.num_workers = workers});
                long right = 0;
                for (int round = 0; round < 100; ++round) {
                  if (workers > 1)
                    be_stolen();
                  const bool computed = fib(12) == 144;
                  const bool there = threads_now() % static_cast<int>(workers) == 0;
                  nopal::stop_workers();
                  right += computed && there ? 1 : 0;
                  while (threads_now() > 1) // the kernel shows a thread a little longer
                    std::this_thread::yield();
                }
                nopal::stop_workers(); // none is there
                return right;
              }),
              100u)
        << workers << " workers";
}

TEST_F(stop_workers, before_the_first_fork_does_nothing) {
  EXPECT_EQ(apart([] {
              nopal::stop_workers();
              nopal::configure({.num_workers = 2});
              be_stolen();
              return fib(10);
            }),
            55u);
}

// The program has used fibers, deadlines and the timer before, and its spares rest.
TEST_F(stop_workers, ends_spares_too) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 2, .tick = 1});
              long right = 0;
              for (int round = 0; round < 20; ++round) {
                gate opened;
                nopal::run([&] {
                  for (int i = 0; i < 3; ++i)
                    nopal::spawn([&] { nopal::blocking([&] { opened.wait(); }); });
                  nopal::spawn([&] { opened.open(); });
                  nopal::cancel_scope s{std::chrono::hours{1}};
                  s.fork([] { fib(10); });
                  s.join();
                });
                nopal::stop_workers();
                right += fib(12) == 144 ? 1 : 0;
              }
              return right;
            }),
            20u);
}

// After the pool has ended, several threads fork at a time; one of them starts it anew.
TEST_F(stop_workers, lets_other_threads_fork_afterwards) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 3});
              std::atomic<long> right{0};
              for (int round = 0; round < 50; ++round) {
                be_stolen();
                nopal::stop_workers();
                std::thread other{[&] { right += fib(12) == 144 ? 1 : 0; }};
                right += fib(12) == 144 ? 1 : 0;
                other.join();
              }
              return right.load();
            }),
            100u);
}

// The next pool has the mask that the program has when that pool starts.
TEST_F(stop_workers, lets_threads_begin_that_follow_the_programs_mask) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 2});
              be_stolen();
              nopal::stop_workers();
              sigset_t term;
              sigemptyset(&term);
              sigaddset(&term, SIGTERM);
              pthread_sigmask(SIG_BLOCK, &term, nullptr);
              gate done;
              nopal::scope s;
              s.fork([&] { done.wait(); });
              sigset_t there;
              pthread_sigmask(SIG_BLOCK, nullptr, &there);
              done.open();
              s.join();
              return sigismember(&there, SIGTERM) + 1;
            }),
            2u);
}

TEST_F(stop_workers, calls_what_was_asked_for_on_each_thread) {
  EXPECT_EQ(apart([] {
              static std::atomic<long> begun{0};
              static std::atomic<long> ended{0};
              nopal::configure({.num_workers = 4,
                                .on_worker_start = [] { begun += 1, keep(1); },
                                .on_worker_end = [] { ended += take_own(); }});
              fib(10);
              nopal::stop_workers();
              const bool once = begun.load() == 3 && ended.load() == 3;
              be_stolen();
              nopal::stop_workers();
              return once && begun.load() == 6 && ended.load() == 6;
            }),
            1u);
}

TEST_F(stop_workers_death, in_a_strand) {
  EXPECT_EXIT(
      {
        nopal::scope s;
        s.fork([] { nopal::stop_workers(); });
        s.join();
      },
      died,
      "^nopal: nopal::stop_workers was called by a strand; call it where no computation runs\n$");
}

TEST_F(stop_workers_death, while_another_thread_computes) {
  EXPECT_EXIT(
      {
        gate running;
        std::thread other{[&] {
          nopal::scope s;
          s.fork([&] {
            running.open();
            for (;;)
              std::this_thread::yield();
          });
        }};
        running.wait();
        nopal::stop_workers();
      },
      died,
      "^nopal: nopal::stop_workers was called while a computation runs on another thread; call it "
      "where none runs\n$");
}

TEST_F(stop_workers_death, in_a_callback) {
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 2, .on_worker_end = [] { nopal::stop_workers(); }});
        fib(10);
        nopal::stop_workers();
      },
      died,
      "^nopal: on_worker_end of a pool's thread forks, or stops the workers: it may do neither, "
      ".*\n$");
}

struct forks_at_end {
  ~forks_at_end() { fib(10); }
};
thread_local std::unique_ptr<forks_at_end> last;
[[gnu::noinline]] void make_last() { last = std::make_unique<forks_at_end>(); }

TEST_F(stop_workers_death, a_destructor_of_a_pools_thread_that_forks) {
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 2, .on_worker_start = make_last});
        fib(10);
        nopal::stop_workers();
      },
      died,
      "^nopal: the destructor of a thread-local object of a pool's thread forks, or stops the "
      "workers: .*\n$");
}

TEST_F(stop_workers_death, a_callback_that_throws) {
  EXPECT_EXIT(
      {
        nopal::configure(
            {.num_workers = 2, .on_worker_start = [] { throw std::runtime_error("no"); }});
        fib(10);
        nopal::stop_workers();
      },
      died,
      "^nopal: on_worker_start, a callback given to nopal::configure, was left by an "
      "exception\n$");
}

// A spare may run on all CPUs of the program, although a bound thread has started it.
TEST_F(stop_workers, spares_of_bound_threads_are_not_bound) {
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  if (CPU_COUNT(&all) < 2)
    GTEST_SKIP() << "there is one CPU";
  const int wanted = CPU_COUNT(&all);
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 2, .binding = nopal::binding::cores});
              static std::atomic<int> most{0};
              gate running;
              nopal::scope s;
              // One strand blocks on the bound thread of the pool, one waits on the program's.
              s.fork([&] { running.wait(); });
              nopal::scope inner;
              inner.fork([&] { nopal::blocking([&] { running.wait(); }); });
              cpu_set_t allowed;
              sched_getaffinity(0, sizeof allowed, &allowed);
              most = CPU_COUNT(&allowed);
              running.open();
              inner.join();
              s.join();
              return most.load();
            }),
            static_cast<std::uint64_t>(wanted));
}

} // namespace
} // namespace nopal_test
