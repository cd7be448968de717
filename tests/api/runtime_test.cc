// SPDX-License-Identifier: MIT
// Options, their precedence and their sentences; counters; what happens to unused pages. Each test
// runs what it tests in a process of its own.
#include "nopal/base/die.h"
#include "tests/api/support.h"
#include "tests/patience.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace nopal_test {
namespace {

class runtime_death : public death {
protected:
  void SetUp() override {
    death::SetUp();
    for (const char* name :
         {"NOPAL_NUM_WORKERS", "NOPAL_STACK_SIZE", "NOPAL_STACK_BUDGET", "NOPAL_MAX_STACKS",
          "NOPAL_BIND", "NOPAL_STATS", "NOPAL_SEED", "NOPAL_VERBOSE"})
      unsetenv(name);
  }
};
using runtime = runtime_death;

const auto died = testing::ExitedWithCode(nopal::base::exit_status_died);
const auto ended = testing::ExitedWithCode(0);

// As in a sandbox, or on a kernel before 4.14.
bool forbid_membarrier() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(steps), steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST_F(runtime, workers_sleep_and_wake_where_membarrier_is_forbidden) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 3});
              if (!forbid_membarrier())
                return 0L;
              long sum = 0;
              for (const std::uint64_t sleeps : {1u, 2u, 3u, 4u}) {
                sum += fib(16);
                while (nopal::stats().sleeps < sleeps)
                  std::this_thread::yield();
              }
              return sum;
            }),
            4u * 987u);
}

TEST_F(runtime, number_of_workers_from_the_environment) {
  EXPECT_EQ(apart([] {
              setenv("NOPAL_NUM_WORKERS", "7", 1);
              return fib(10) == 55 ? nopal::num_workers() : 0u;
            }),
            7u);
}

TEST_F(runtime, program_beats_environment) {
  EXPECT_EQ(apart([] {
              setenv("NOPAL_NUM_WORKERS", "7", 1);
              nopal::configure({.num_workers = 3});
              return fib(10) == 55 ? nopal::num_workers() : 0u;
            }),
            3u);
}

TEST_F(runtime, stack_size_from_the_environment) {
  // Recursion that needs four megabytes.
  EXPECT_EQ(apart([] {
              setenv("NOPAL_STACK_SIZE", "16M", 1);
              nopal::scope s;
              long sum = 0;
              s.fork([&sum] {
                volatile char large[4 << 20];
                large[0] = 1;
                large[sizeof large - 1] = 2;
                sum = large[0] + large[sizeof large - 1] + fib(10);
              });
              s.join();
              return sum;
            }),
            58u);
}

TEST_F(runtime, one_worker_computes_alone) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 1});
              const bool right = fib(15) == 610;
              return right && nopal::stats().steals == 0 ? nopal::num_workers() : 0u;
            }),
            1u);
}

TEST_F(runtime_death, value_that_is_no_number) {
  EXPECT_EXIT(
      {
        setenv("NOPAL_NUM_WORKERS", "abc", 1);
        fib(5);
      },
      died, "^nopal: .*NOPAL_NUM_WORKERS.*abc.*1.*1024.*\n$");
}

TEST_F(runtime_death, value_that_the_program_gives) {
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 100'000});
        fib(5);
      },
      died, "^nopal: .*100000.*1.*1024.*\n$");
}

TEST_F(runtime_death, options_after_the_first_fork) {
  EXPECT_EXIT(
      {
        fib(5);
        nopal::configure({.num_workers = 2});
      },
      died, "^nopal: nopal::configure was called after the first fork; call it before\n$");
}

TEST_F(runtime_death, options_after_the_number_of_workers) {
  EXPECT_EXIT(
      {
        nopal::num_workers();
        nopal::configure({.num_workers = 2});
      },
      died, "^nopal: nopal::configure was called after nopal::num_workers, .* call it before\n$");
}

TEST_F(runtime_death, statistics_at_the_end) {
  EXPECT_EXIT(
      {
        setenv("NOPAL_STATS", "1", 1);
        setenv("NOPAL_NUM_WORKERS", "3", 1);
        be_stolen();
        std::exit(0);
      },
      ended,
      "^nopal: 3 workers, [1-9][0-9]* steals, [0-9]+ suspensions, [1-9][0-9]* resumptions, .*\n$");
}

TEST_F(runtime_death, statistics_only_if_asked_for) {
  EXPECT_EXIT(
      {
        be_stolen();
        std::exit(0);
      },
      ended, "^$");
}

// At rest every suspended strand has been resumed, and each resumption belongs to a steal.
TEST_F(runtime, counters_agree) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 4, .stack_budget = nopal::unlimited});
              nopal::vproc::force_steals(9);
              for (int i = 0; i < 20; ++i)
                be_stolen();
              if (fib(9) != 34)
                return 1;
              const nopal::statistics all = nopal::stats();
              if (all.steals < 20)
                return 2;
              if (all.suspensions > all.resumptions)
                return 3;
              if (all.resumptions > all.steals || all.resumptions < 20)
                return 4;
              if (all.stacks == 0 || all.stack_pages == 0)
                return 5;
              return all.pages_returned + all.unmaps != 0 ? 6 : 0;
            }),
            0u);
}

[[gnu::noinline]] long touch_deeply(int seed) {
  char deep[300 << 10];
  std::memset(deep, seed, sizeof deep);
  asm volatile("" : : "r"(deep) : "memory");
  return deep[12345];
}

// A child whose parent was stolen, deep in its stack, ends before the parent joins: the pages below
// the parent's frame hold nothing then.
long waste_pages(bool wait_for_their_return) {
  gate stolen;
  long deep = 0;
  nopal::scope s;
  s.fork([&] {
    stolen.wait();
    deep = touch_deeply(7);
  });
  stolen.open();
  const auto deadline = std::chrono::steady_clock::now() + nopal_test::patience;
  while (wait_for_their_return && nopal::stats().pages_returned == 0 &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  s.join();
  return deep;
}

std::uint64_t pages_returned(std::size_t budget) {
  nopal::configure({.num_workers = 4, .stack_budget = budget});
  long deep = 0;
  nopal::scope s;
  s.fork(deep, waste_pages, budget == 0);
  s.join();
  for (int i = 0; i < 50; ++i) {
    s.fork(deep, waste_pages, false);
    s.join();
    if (deep != 7)
      return 1;
  }
  return nopal::stats().pages_returned;
}

TEST_F(runtime, unused_pages_go_back_where_the_budget_says_so) {
  const auto returned = apart([] { return pages_returned(0); });
  ASSERT_TRUE(returned.has_value());
  EXPECT_GE(*returned, 70u); // 300 KiB are 75 pages, of which a page or two hold frames
  EXPECT_EQ(apart([] { return pages_returned(nopal::unlimited); }), 0u);
}

TEST_F(runtime, results_stay_right_where_pages_go_back) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 5, .stack_budget = 0});
              nopal::vproc::force_steals(3);
              return fib(11);
            }),
            89u);
}

} // namespace
} // namespace nopal_test
