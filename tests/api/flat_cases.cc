// SPDX-License-Identifier: MIT
// A scope that a thread forks again and again before it joins, where the thread runs no strand. The
// thread begins one group for all of these forks: from the second child on it is in a strand.
#include "nopal/base/os.h"
#include "nopal/cancel.h"
#include "nopal/fork.h"
#include "nopal/reducer.h"
#include "nopal/vproc/worker.h"
#include "tests/api/support.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

constexpr int children = 200;

// The cases run where the caller runs no strand, and where it does.
template <class F> void outside_and_inside(const F& f) {
  f();
  nopal::invoke([&] { f(); }, [] {});
}

// Not inlined: what a compiler knows of its thread and its stack ends at a fork.
[[gnu::noinline]] bool on_strand() { return nopal::vproc::on_strand(); }
[[gnu::noinline]] std::uintptr_t stack_here() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}
[[gnu::noinline]] void set_error(int error) { errno = error; }
[[gnu::noinline]] int get_error() { return errno; }

TEST(flat, later_forks_begin_no_group) {
  std::vector<int> strands;
  int ended = 0;
  nopal::scope s;
  for (int i = 0; i < children; ++i) {
    s.fork([&ended] { __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED); });
    strands.push_back(on_strand());
  }
  s.join();
  EXPECT_EQ(ended, children);
  EXPECT_FALSE(on_strand()) << "the join ends the group";
  for (int i = 1; i < children; ++i)
    ASSERT_TRUE(strands[static_cast<std::size_t>(i)]) << i;
}

TEST(flat, each_scope_returns_on_its_thread) {
  const auto thread = syscall(SYS_gettid);
  const std::uintptr_t stack = stack_here();
  for (int round = 0; round < 20; ++round) {
    long sum = 0;
    nopal::scope s;
    for (int part = 1; part <= 3; ++part) { // it forks and joins again
      for (int i = 0; i < part; ++i)
        s.fork([&sum] { __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED); });
      s.join();
      ASSERT_EQ(syscall(SYS_gettid), thread);
      ASSERT_EQ(stack_here(), stack);
      ASSERT_FALSE(on_strand());
    }
    ASSERT_EQ(sum, 6);
  }
}

[[gnu::noinline]] void spin(std::uint64_t cycles) {
  const std::uint64_t begun = nopal::base::cycles();
  while (nopal::base::cycles() - begun < cycles) {
  }
}

// Such children are shorter than a steal, so the loop does not move to and fro for long, also if
// steals were worth it before.
TEST(flat, thieves_soon_leave_empty_children_alone) {
  if (nopal::vproc::steals_forced())
    GTEST_SKIP() << "the clock decides nothing";
  constexpr std::uint64_t many = 100'000;
  std::uint64_t steals = 0;
  for (int round = 0; round < 5; ++round) {
    nopal::scope s;
    for (int i = 0; i < children; ++i)
      s.fork([] { spin(20'000); });
    s.join();
    const std::uint64_t before = nopal::stats().steals;
    for (std::uint64_t i = 0; i < many; ++i)
      s.fork([] { asm volatile(""); });
    s.join();
    steals += nopal::stats().steals - before;
  }
  EXPECT_LT(steals, many / 10) << "of 500,000 forks";
}

TEST(flat, throws_what_the_first_child_throws) {
  outside_and_inside([] {
    for (const int first : {0, 1, 2, 50}) {
      int thrown = -1;
      int behind = 0;
      try {
        nopal::scope s;
        for (int i = 0; i < children; ++i)
          s.fork([i, first] {
            if (i >= first)
              throw i;
          });
        behind = 1;
        s.join();
      } catch (const int i) {
        thrown = i;
      }
      EXPECT_EQ(thrown, first);
      EXPECT_EQ(behind, 1);
    }
  });
}

TEST(flat, an_exception_between_forks_joins_first) {
  outside_and_inside([] {
    int ended = 0;
    bool caught = false;
    try {
      nopal::scope s;
      for (int i = 0; i < children; ++i) {
        s.fork([&ended] { __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED); });
        if (i == 10)
          throw std::string("between");
      }
    } catch (const std::string& what) {
      caught = what == "between";
    }
    EXPECT_TRUE(caught);
    EXPECT_EQ(ended, 11);
  });
}

TEST(flat, forks_amid_a_handler) {
  int ended = 0;
  try {
    throw 5;
  } catch (const int five) {
    nopal::scope s;
    for (int i = 0; i < children; ++i)
      s.fork([&ended] {
        __atomic_fetch_add(&ended, std::current_exception() != nullptr, __ATOMIC_RELAXED);
      });
    s.join();
    EXPECT_EQ(five, 5);
    EXPECT_NE(std::current_exception(), nullptr);
  }
  EXPECT_EQ(ended, children);
  EXPECT_EQ(std::current_exception(), nullptr);
}

TEST(flat, what_reducers_have_is_in_serial_order) {
  outside_and_inside([] {
    nopal::reducer<nopal::appending<std::string>> text;
    std::string expected;
    nopal::scope s;
    for (int i = 0; i < children; ++i) {
      *text += "(";
      s.fork([&text, i] { *text += std::to_string(i); });
      *text += ")";
      expected += "(" + std::to_string(i) + ")";
    }
    s.join();
    EXPECT_EQ(text.take(), expected);
  });
}

TEST(flat, keeps_errno) {
  nopal::scope s;
  for (int i = 0; i < children; ++i) {
    set_error(i);
    s.fork([] {});
    ASSERT_EQ(get_error(), i);
  }
  s.join();
  EXPECT_EQ(get_error(), children - 1);
}

TEST(flat, of_a_cancelled_scope_the_rest_is_left_out) {
  outside_and_inside([] {
    int ended = 0;
    nopal::cancel_scope s;
    for (int i = 0; i < children; ++i) {
      s.fork([&ended] { __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED); });
      if (i == 5)
        s.cancel();
    }
    EXPECT_FALSE(s.try_join());
    EXPECT_LE(ended, 6);
  });
}

TEST(flat, two_threads_at_a_time) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&right] {
      for (int round = 0; round < repetitions(200, 10); ++round) {
        std::vector<int> results(20);
        nopal::scope s;
        for (int i = 0; i < 20; ++i) {
          nopal::scope inner; // which is forked once
          inner.fork([&results, i] { results[static_cast<std::size_t>(i)] += i; });
          inner.join();
          s.fork([at = &results[static_cast<std::size_t>(i)]] { *at += 1; });
        }
        s.join();
        int sum = 0;
        for (const int each : results)
          sum += each;
        right += sum == 20 * 19 / 2 + 20;
      }
    });
  for (std::thread& each : threads)
    each.join();
  EXPECT_EQ(right, 2 * repetitions(200, 10));
}

} // namespace
} // namespace nopal_test
