// SPDX-License-Identifier: MIT
// Affine regions: on which thread they end, what they return and throw, and that they end in the
// reverse order in which they began, thread by thread.
#include "nopal/affine.h"
#include "nopal/loop.h"
#include "tests/api/checking_mutex.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {

// How many regions went on, after a steal, on another thread than the one that entered them.
std::atomic<int> ended_elsewhere{0};

// A thief takes the continuation and yields for a while, so that mostly the child ends first.
void be_stolen_for_good() {
  gate stolen;
  gate finished;
  nopal::scope s;
  s.fork([&] {
    stolen.wait();
    finished.open();
  });
  stolen.open();
  finished.wait();
  for (int i = 0; i < 500; ++i)
    std::this_thread::yield();
  s.join();
}

// A region whose continuation is stolen once.
void region_that_is_stolen() {
  const pthread_t entered = this_thread();
  nopal::affine([entered] {
    be_stolen_for_good();
    fib(4);
    if (this_thread() != entered)
      ended_elsewhere.fetch_add(1);
  });
  ASSERT_EQ(this_thread(), entered);
}

// Where the child is finished first, the main path goes on where it was stolen to.
TEST(affine, returns_on_the_thread_that_entered) {
  const int before = ended_elsewhere;
  while (ended_elsewhere < before + 20)
    region_that_is_stolen();
}

TEST(affine, returns_on_the_thread_that_entered_below_a_fork) {
  const int before = ended_elsewhere;
  while (ended_elsewhere < before + 20) {
    nopal::scope s;
    s.fork(region_that_is_stolen);
    region_that_is_stolen();
    s.join();
  }
}

TEST(affine, returns_on_the_thread_that_entered_on_threads_of_their_own) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([] {
      for (int round = 0; round < repetitions(50, 10); ++round)
        region_that_is_stolen();
    });
  for (std::thread& thread : threads)
    thread.join();
}

TEST(affine, returns_what_the_function_returns) {
  EXPECT_EQ(nopal::affine([] { return fib(12); }), 144);
  std::string text = "kept";
  std::string& same = nopal::affine([&]() -> std::string& {
    be_stolen();
    return text;
  });
  EXPECT_EQ(&same, &text);
  std::string&& moved = nopal::affine([&]() -> std::string&& { return std::move(text); });
  EXPECT_EQ(&moved, &text);
  const std::unique_ptr<long> owned = nopal::affine([] { return std::make_unique<long>(fib(10)); });
  EXPECT_EQ(*owned, 55);
  struct has_no_default {
    explicit has_no_default(int n) : number(n) {}
    int number;
  };
  EXPECT_EQ(nopal::affine([] { return has_no_default{7}; }).number, 7);
  int calls = 0;
  nopal::affine([&calls, own = std::make_unique<int>(3)] { calls += *own; });
  EXPECT_EQ(calls, 3);
}

TEST(affine, throws_what_the_function_throws_where_it_was_entered) {
  for (int i = 0; i < repetitions(100, 20); ++i) {
    const pthread_t entered = this_thread();
    try {
      nopal::affine([i] {
        be_stolen();
        if (i >= 0)
          throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(this_thread(), entered);
      EXPECT_EQ(error.what(), std::to_string(i));
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_EQ(std::current_exception(), nullptr);
  }
}

// A library might keep such data for its thread: the regions that the thread is in.
std::vector<int>& regions_of_this_thread() {
  static thread_local std::vector<int> regions;
  return regions;
}
[[gnu::noinline]] void enter(int region) { regions_of_this_thread().push_back(region); }
[[gnu::noinline]] int left() {
  if (regions_of_this_thread().empty())
    return -1;
  const int region = regions_of_this_thread().back();
  regions_of_this_thread().pop_back();
  return region;
}

std::atomic<int> next_region{0};
std::atomic<int> out_of_order{0};

// Regions within regions, forked all over.
long tree_of_regions(int depth) {
  if (depth == 0)
    return 1;
  const int region = next_region.fetch_add(1);
  enter(region);
  long low = 0;
  const long high = nopal::affine([depth, &low] {
    nopal::scope s;
    s.fork(low, tree_of_regions, depth - 1);
    const long other = tree_of_regions(depth - 1);
    s.join();
    return other;
  });
  if (left() != region)
    out_of_order.fetch_add(1);
  return low + high;
}

TEST(affine, regions_of_a_thread_end_in_reverse_order) {
  for (int round = 0; round < repetitions(20, 3); ++round)
    ASSERT_EQ(tree_of_regions(repetitions(9, 7)), 1 << repetitions(9, 7));
  EXPECT_EQ(out_of_order, 0);
  EXPECT_TRUE(regions_of_this_thread().empty());
}

TEST(affine, many_regions_at_a_time) {
  std::atomic<long> sum{0};
  nopal::for_index(
      0, repetitions(2000, 100), [&](int) { sum += nopal::affine([] { return fib(8); }); }, 1);
  EXPECT_EQ(sum, 21L * repetitions(2000, 100));
}

// A thread that waits for its region runs nobody else's strands: another caller of this function
// would lock a mutex that its thread has already.
TEST(affine, a_lock_of_the_thread_can_be_held_across_a_region) {
  checking_mutex mutex;
  long inside = 0;
  std::atomic<int> errors{0};
  const int count = repetitions(400, 60);
  nopal::for_index(
      0, count,
      [&](int) {
        if (mutex.lock() != 0)
          errors.fetch_add(1);
        inside += nopal::affine([] { return fib(6); });
        if (mutex.unlock() != 0)
          errors.fetch_add(1);
      },
      1);
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(inside, 8L * count);
}

TEST(affine, region_in_a_handler_and_in_a_destructor) {
  struct forks_at_the_end {
    ~forks_at_the_end() {
      uncaught = nopal::affine([] {
        be_stolen();
        return std::uncaught_exceptions();
      });
    }
    int& uncaught;
  };
  for (int i = 0; i < repetitions(50, 10); ++i) {
    int uncaught = -1;
    try {
      const forks_at_the_end object{uncaught};
      throw std::runtime_error("outer");
    } catch (const std::runtime_error&) {
      std::string seen;
      try {
        nopal::affine([] {
          be_stolen();
          throw;
        });
      } catch (const std::runtime_error& again) {
        seen = again.what();
      }
      EXPECT_EQ(seen, "outer");
      EXPECT_NE(std::current_exception(), nullptr);
    }
    EXPECT_EQ(uncaught, 1);
    EXPECT_EQ(std::current_exception(), nullptr);
  }
}

long ever_deeper(long n) {
  return nopal::affine([n] { return n == 0 ? 0 : 1 + ever_deeper(n - 1); });
}

TEST(affine, a_thousand_regions_within_each_other) {
  const int depth = on_valgrind() || on_views() ? 100 : 1000; // on views all lie on one stack
  EXPECT_EQ(ever_deeper(depth), depth);
}

} // namespace nopal_test
