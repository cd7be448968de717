// SPDX-License-Identifier: MIT
// State of each worker, and the workers' numbers.
#include "nopal/loop.h"
#include "nopal/per_worker.h"
#include "tests/api/counted_value.h"
#include "tests/api/support.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

TEST(worker_index, is_below_the_number_of_workers) {
  const unsigned workers = nopal::num_workers();
  EXPECT_LT(nopal::worker_index(), workers) << "on a thread that runs no strand";
  nopal::for_index(0, 300, [workers](int) { EXPECT_LT(nopal::worker_index(), workers); }, 1);
}

TEST(worker_index, strands_that_run_at_the_same_time_have_two) {
  std::array<std::atomic<int>, 64> running{};
  nopal::for_index(
      0, repetitions(3000, 300),
      [&](int) {
        const unsigned mine = nopal::worker_index();
        ASSERT_EQ(running.at(mine).fetch_add(1), 0);
        for (int i = 0; i < 100; ++i)
          ASSERT_EQ(nopal::worker_index(), mine);
        running.at(mine).fetch_sub(1);
      },
      1);
}

TEST(worker_index, of_a_thread_stays) {
  const unsigned before = nopal::worker_index();
  if (nopal::num_workers() > 1)
    be_stolen();
  EXPECT_EQ(nopal::worker_index(), before) << "the outermost scope returns on its thread";
  unsigned others[2] = {before, before};
  std::thread other{[&] {
    for (unsigned& each : others)
      each = nopal::worker_index();
  }};
  other.join();
  EXPECT_NE(others[0], before);
  EXPECT_EQ(others[0], others[1]);
}

TEST(per_worker, is_made_once_for_each_worker_that_asks) {
  std::atomic<int> made{0};
  nopal::per_worker<long> sums{[&made] {
    ++made;
    return 0L;
  }};
  EXPECT_TRUE(sums.empty());
  nopal::for_index(0, 10000, [&](int i) { sums.local() += i; }, 1);
  EXPECT_GE(made, 1);
  EXPECT_LE(static_cast<unsigned>(made), nopal::num_workers());
  EXPECT_EQ(std::distance(sums.begin(), sums.end()), made);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0L), 49995000);
  EXPECT_EQ(sums.combine([](long& low, long high) { low += high; }), 49995000);
  EXPECT_TRUE(sums.empty());
}

TEST(per_worker, without_any_combines_to_a_new_one) {
  nopal::per_worker<int> none{[] { return 7; }};
  EXPECT_EQ(none.combine([](int& low, int high) { low += high; }), 7);
}

TEST(per_worker, of_values_that_only_move) {
  nopal::per_worker<std::unique_ptr<long>> sums{[] { return std::make_unique<long>(0); }};
  nopal::for_index(0, 1000, [&](int i) { *sums.local() += i; }, 1);
  EXPECT_EQ(
      *sums.combine([](std::unique_ptr<long>& low, std::unique_ptr<long> high) { *low += *high; }),
      499500);
}

TEST(per_worker, values_share_no_cache_line) {
  nopal::per_worker<char> all;
  nopal::for_index(0, 1000, [&](int) { all.local() = 'x'; }, 1);
  for (const char& each : all)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&each) % 64, 0u);
}

TEST(per_worker, destroys_what_it_has_made) {
  counted_value::reset();
  {
    nopal::per_worker<counted_value> all;
    nopal::for_index(0, 100, [&](int) { all.local().text += 'x'; }, 1);
    EXPECT_GT(counted_value::alive, 0);
    all.clear();
    EXPECT_EQ(counted_value::alive, 0);
    all.local().text = "again";
  }
  EXPECT_EQ(counted_value::alive, 0);
}

TEST(per_worker, is_tried_again_where_making_it_has_thrown) {
  std::atomic<bool> fails{true};
  nopal::per_worker<int> all{[&fails] {
    if (fails)
      throw std::runtime_error("meant");
    return 3;
  }};
  EXPECT_THROW(all.local(), std::runtime_error);
  EXPECT_TRUE(all.empty());
  EXPECT_THROW(nopal::for_index(0, 100, [&](int) { all.local(); }, 1), std::runtime_error);
  fails = false;
  EXPECT_EQ(all.local(), 3);
}

TEST(per_worker, may_be_made_by_code_that_forks) {
  nopal::per_worker<long> all{[] { return fib(6); }};
  nopal::for_index(0, repetitions(300, 60), [&](int) { EXPECT_GE(all.local(), 8); }, 1);
  for (const long each : all)
    EXPECT_EQ(each, 8);
}

TEST(per_worker, buffers_are_used_by_one_strand_at_a_time) {
  nopal::per_worker<std::vector<int>> buffers{[] { return std::vector<int>(64); }};
  nopal::for_index(
      0, repetitions(2000, 300),
      [&](int i) {
        std::vector<int>& buffer = buffers.local();
        std::ranges::fill(buffer, i);
        ASSERT_EQ(std::ranges::count(buffer, i), 64);
      },
      1);
}

} // namespace
} // namespace nopal_test
