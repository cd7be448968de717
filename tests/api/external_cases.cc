// SPDX-License-Identifier: MIT
// Threads that Nopal did not start: many, short-lived, nested, with large frames, before main and
// after it; and forks below functions that know nothing of them.
#include "tests/api/support.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace nopal_test {

template <class Body> void on_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(body, i);
  for (std::thread& thread : threads)
    thread.join();
}

TEST(external_thread, thousands_of_short_lived_threads) {
  for (int round = 0; round < repetitions(500, 10); ++round)
    on_threads(4, [](int i) {
      ASSERT_EQ(fib(5 + i), (std::array{5, 8, 13, 21}[static_cast<std::size_t>(i)]));
    });
}

TEST(external_thread, many_at_once) {
  on_threads(repetitions(60, 12), [](int) {
    for (int i = 0; i < repetitions(20, 2); ++i)
      ASSERT_EQ(fib(10), 55);
  });
}

// Each thread waits for a thief; so each thread's work is found while the others wait.
TEST(external_thread, many_whose_continuations_must_be_stolen) {
  on_threads(12, [](int) {
    for (int i = 0; i < 10; ++i)
      be_stolen();
  });
}

TEST(external_thread, a_child_starts_a_thread_that_forks) {
  for (int i = 0; i < repetitions(50, 5); ++i) {
    long inner = 0;
    nopal::scope s;
    s.fork([&inner] {
      std::thread([&inner] {
        be_stolen();
        inner = fib(9);
      }).join();
    });
    const long outer = fib(8);
    s.join();
    ASSERT_EQ(inner, 34);
    ASSERT_EQ(outer, 21);
  }
}

TEST(external_thread, goes_on_after_the_outermost_join_on_its_own_thread) {
  on_threads(4, [](int) {
    const pthread_t own = this_thread();
    for (int i = 0; i < 20; ++i) {
      gate stolen;
      pthread_t thief = own;
      nopal::scope s;
      s.fork([&stolen] {
        stolen.wait();
        fib(5);
      });
      thief = this_thread();
      stolen.open();
      s.join();
      ASSERT_EQ(this_thread(), own);
      ASSERT_NE(thief, own);
    }
  });
}

[[gnu::noinline]] void fill(char* bytes, std::size_t size) { std::memset(bytes, 'x', size); }

[[gnu::noinline]] long with_a_large_frame(int n) {
  char large[600 << 10];
  fill(large, sizeof large);
  nopal::scope s;
  long x = 0;
  s.fork(x, fib, n);
  const long y = fib(n - 1);
  s.join();
  const auto changed = std::count_if(large, large + sizeof large, [](char c) { return c != 'x'; });
  return changed == 0 ? x + y : -1;
}

TEST(external_thread, frame_of_600_kib) {
  for (int i = 0; i < repetitions(20, 3); ++i)
    ASSERT_EQ(with_a_large_frame(9), 55);
  on_threads(3, [](int) { ASSERT_EQ(with_a_large_frame(8), 34); });
}

int compare_and_fork(const void* a, const void* b) {
  const int left = *static_cast<const int*>(a);
  const int right = *static_cast<const int*>(b);
  nopal::scope s;
  long x = 0;
  s.fork(x, fib, 3);
  const long y = fib(2);
  s.join();
  return x + y == 3 ? (left > right) - (left < right) : 0;
}

void sort_and_check(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 0);
  std::shuffle(values.begin(), values.end(), std::mt19937{7});
  std::qsort(values.data(), values.size(), sizeof(int), compare_and_fork);
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(values[i], static_cast<int>(i));
}

TEST(external_thread, comparator_of_qsort_forks) {
  const auto count = static_cast<std::size_t>(repetitions(3000, 60));
  sort_and_check(count);
  nopal::scope s;
  s.fork([count] { sort_and_check(count); });
  sort_and_check(count / 2);
  s.join();
}

// Its destructor runs after the thread's last ordinary function, and before or after that of the
// data that Nopal keeps for the thread.
struct forks_when_its_thread_ends {
  ~forks_when_its_thread_ends() {
    be_stolen();
    finished += fib(6) == 8 ? 1 : 0;
  }
  static inline std::atomic<int> finished{0};
};

TEST(external_thread, thread_local_destructors_fork) {
  const int count = repetitions(200, 20);
  for (int i = 0; i < count; ++i)
    on_threads(4, [](int n) {
      if (n % 2 == 0)
        fib(3); // what Nopal keeps is made first, and dies last
      static thread_local forks_when_its_thread_ends last;
      (void)last;
      fib(4);
    });
  EXPECT_EQ(forks_when_its_thread_ends::finished.load(), 4 * count);
}

// Before main, where the constructors of static objects run.
const long before_main = [] {
  be_stolen();
  return fib(10);
}();

TEST(external_thread, forks_before_main) { EXPECT_EQ(before_main, 55); }

// After main: each handler runs in the process of every test, and a failure is its exit status.
void fork_after_main() {
  be_stolen();
  bool right = fib(10) == 55;
  std::thread([&right] { right = right && fib(9) == 34; }).join();
  on_threads(4, [](int) { be_stolen(); });
  if (!right)
    std::_Exit(3);
}

TEST(external_thread, forks_at_exit) {
  ASSERT_EQ(std::atexit(fork_after_main), 0);
  ASSERT_EQ(fib(9), 34);
}

} // namespace nopal_test
