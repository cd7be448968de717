// SPDX-License-Identifier: MIT
// Child stealing (bench/baseline/child_stealing.h): who runs a child, in which order, and when.
//
// A parent that waits before its join makes a thief come, so each steal happens in every run.
#include "bench/backend/child_stealing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

void wait_for(const std::atomic<bool>& said) {
  for (unsigned tries = 1; !said.load(); ++tries)
    nopal::base::wait_briefly(tries);
}

std::atomic<bool> begun = false;
std::atomic<bool> may_end = false;

std::thread::id say_begun() {
  begun = true;
  return std::this_thread::get_id();
}
std::thread::id begin_and_wait() {
  begun = true;
  wait_for(may_end);
  return std::this_thread::get_id();
}
std::thread::id let_end() {
  may_end = true;
  return std::this_thread::get_id();
}

long fib(long n) {
  if (n < 2)
    return n;
  long x = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, x, fib, n - 1);
  const long y = fib(n - 2);
  BENCH_JOIN(s);
  return x + y;
}

TEST(child_stealing, a_thief_runs_the_child_while_the_parent_goes_on) {
  bench::runtime two(2);
  begun = false;
  std::thread::id of_child;
  two.run([&] {
    BENCH_SCOPE(s);
    BENCH_FORK(s, of_child, say_begun);
    wait_for(begun); // else the parent would take the child back
    BENCH_JOIN(s);
  });
  EXPECT_NE(of_child, std::thread::id());
  EXPECT_NE(of_child, std::this_thread::get_id());
  EXPECT_EQ(two.read_counters().steals, 1u);
}

TEST(child_stealing, a_join_waits_for_what_was_stolen_and_takes_the_rest_back) {
  bench::runtime two(2);
  begun = may_end = false;
  std::thread::id of_first;
  std::thread::id of_second;
  two.run([&] {
    BENCH_SCOPE(s);
    BENCH_FORK(s, of_first, begin_and_wait);
    wait_for(begun);
    BENCH_FORK(s, of_second, let_end); // the thief is busy until this has run
    BENCH_JOIN(s);
    EXPECT_EQ(of_second, std::this_thread::get_id());
    EXPECT_NE(of_first, std::thread::id());
  });
  EXPECT_NE(of_first, of_second);
  EXPECT_EQ(two.read_counters().steals, 1u);
}

TEST(child_stealing, one_worker_runs_the_newest_child_first_and_only_at_the_join) {
  bench::runtime alone(1);
  std::vector<int> order;
  alone.run([&] {
    std::vector<int>* const into = &order;
    BENCH_SCOPE(s);
    for (int i = 0; i < 3; ++i)
      BENCH_FORK_VOID(s, into->push_back, i);
    EXPECT_TRUE(order.empty());
    BENCH_JOIN(s);
  });
  EXPECT_EQ(order, (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(alone.read_counters().steals, 0u);
}

TEST(child_stealing, each_fork_of_the_last_run_has_a_closure) {
  bench::runtime alone(1);
  alone.run([] { EXPECT_EQ(fib(3), 2); });
  alone.run([] { EXPECT_EQ(fib(10), 55); });
  EXPECT_EQ(alone.metrics().at("closures"), 88); // leaves, 89, less one
}

TEST(child_stealing, many_workers_get_the_right_result_run_after_run) {
  bench::runtime many(4);
  for (int i = 0; i < 20; ++i)
    many.run([] { EXPECT_EQ(fib(18), 2584); });
  EXPECT_EQ(many.metrics().at("closures"), 4180);
}

} // namespace
} // namespace nopal_test
