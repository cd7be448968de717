// SPDX-License-Identifier: MIT
// nopal::mutex and nopal::condition_variable: exclusion, order, waiting at any depth below open
// forks, across forks and joins, with threads that are no workers.
#include "nopal/affine.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "tests/api/support.h"

#include <cerrno>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nopal_test {

// How many strands wait at a time. ThreadSanitizer keeps a clock with a place for each stack that
// ever was: with hundreds of waiting strands every atomic store takes microseconds. Under Valgrind
// there are addresses for 512 stacks only.
#if defined(NOPAL_TSAN)
const int kWaiting = 100;
#else
const int kWaiting = on_valgrind() ? 100 : 1000;
#endif

// Counts how often a strand comes in while another one is inside.
class checked_section {
public:
  template <class Inside> void run(Inside inside) {
    const std::lock_guard guard{mutex_};
    if (inside_.fetch_add(1) != 0)
      overlaps += 1;
    inside();
    inside_.fetch_sub(1);
  }
  std::atomic<int> overlaps{0};

private:
  nopal::mutex mutex_;
  std::atomic<int> inside_{0};
};

TEST(mutex, one_strand_at_a_time) {
  checked_section section;
  long count = 0;
  const int total = repetitions(20 * kWaiting, 300);
  nopal::for_index(
      0, total,
      [&](int i) {
        section.run([&] {
          count += 1;
          if (i % 64 == 0)
            std::this_thread::yield();
        });
      },
      1);
  EXPECT_EQ(count, total);
  EXPECT_EQ(section.overlaps, 0);
}

// The lock is the strand's: it may end on another thread, and its thread may meanwhile run strands
// that want it.
TEST(mutex, held_across_forks_and_joins) {
  checked_section section;
  long sum = 0;
  const int total = repetitions(kWaiting, 60);
  nopal::for_index(
      0, total,
      [&](int) {
        section.run([&] {
          be_stolen();
          sum += fib(5);
        });
      },
      1);
  EXPECT_EQ(sum, 5L * total);
  EXPECT_EQ(section.overlaps, 0);
}

// A strand waits below open forks, whose continuations others take meanwhile: one of these releases
// the mutex.
void wait_below(int depth, nopal::mutex& mutex, std::atomic<int>& above) {
  if (depth == 0) {
    const std::lock_guard guard{mutex};
    return;
  }
  nopal::scope s;
  s.fork(wait_below, depth - 1, std::ref(mutex), std::ref(above));
  above += 1;
  s.join();
}

TEST(mutex, what_was_forked_above_a_waiting_strand_is_stolen) {
  for (const int depth : {1, 2, 7, 40, 300}) {
    for (int i = 0; i < repetitions(20, 3); ++i) {
      nopal::mutex mutex;
      std::atomic<int> above{0};
      mutex.lock();
      nopal::scope s;
      s.fork(wait_below, depth, std::ref(mutex), std::ref(above));
      while (above < depth) // each of them on a thief: the child waits
        std::this_thread::yield();
      mutex.unlock();
      s.join();
      ASSERT_EQ(above, depth);
      ASSERT_TRUE(mutex.try_lock());
      mutex.unlock();
    }
  }
}

TEST(mutex, many_strands_wait_at_a_time) {
  nopal::mutex mutex;
  std::atomic<int> in{0};
  const int total = kWaiting;
  mutex.lock();
  nopal::scope s;
  s.fork([&] {
    nopal::for_index(
        0, total,
        [&](int) {
          in += 1;
          const std::lock_guard guard{mutex};
        },
        1);
  });
  while (in < total) // by few threads
    std::this_thread::yield();
  mutex.unlock();
  s.join();
}

TEST(mutex, threads_that_are_no_workers) {
  checked_section section;
  long count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 500; ++j)
        section.run([&] { count += 1; });
    });
  nopal::for_index(0, 500, [&](int) { section.run([&] { count += 1; }); }, 1);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(count, 2500);
  EXPECT_EQ(section.overlaps, 0);
}

// The child of a foreign thread's fork may go on on a pool thread, though nobody has taken the
// parent.
TEST(mutex, a_foreign_thread_s_fork_ends_on_its_own_thread) {
  for (int i = 0; i < repetitions(300, 50); ++i) {
    nopal::mutex mutex;
    gate locked;
    gate forked;
    std::thread stranger([&] {
      const std::lock_guard guard{mutex};
      locked.open();
      forked.wait();
      std::this_thread::yield();
    });
    locked.wait();
    const pthread_t own = this_thread();
    {
      nopal::scope s;
      s.fork([&] {
        forked.open();
        mutex.lock();
        mutex.unlock();
      });
      s.join();
    }
    ASSERT_EQ(this_thread(), own);
    stranger.join();
  }
}

TEST(mutex, in_affine_regions) {
  checked_section section;
  long count = 0;
  const int total = repetitions(500, 50);
  nopal::for_index(
      0, total,
      [&](int) {
        nopal::affine(
            [&] { nopal::for_index(0, 4, [&](int) { section.run([&] { count += 1; }); }, 1); });
      },
      1);
  EXPECT_EQ(count, 4L * total);
  EXPECT_EQ(section.overlaps, 0);
}

TEST(mutex, two_of_them_with_scoped_lock) {
  nopal::mutex a;
  nopal::mutex b;
  long count = 0;
  const int total = repetitions(2000, 100);
  nopal::for_index(
      0, total,
      [&](int i) {
        if (i % 2 == 0) {
          const std::scoped_lock both{a, b};
          count += 1;
        } else {
          const std::scoped_lock both{b, a};
          count += 1;
        }
      },
      1);
  EXPECT_EQ(count, total);
}

TEST(mutex, try_lock_says_whether) {
  nopal::mutex mutex;
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

// In functions of their own: a compiler may keep errno's place.
[[gnu::noinline]] int own_error() { return errno; }
[[gnu::noinline]] void set_own_error(int value) { errno = value; }

TEST(mutex, a_waiting_strand_keeps_what_is_its_own) {
  for (int i = 0; i < repetitions(50, 10); ++i) {
    nopal::mutex mutex;
    gate waits;
    mutex.lock();
    nopal::scope s;
    int seen = 0;
    bool handled = false;
    s.fork([&] {
      try {
        throw std::runtime_error("kept");
      } catch (const std::runtime_error&) {
        set_own_error(1234 + i);
        waits.open();
        mutex.lock();
        seen = own_error();
        handled = std::current_exception() != nullptr;
        mutex.unlock();
      }
    });
    waits.wait();
    be_stolen();
    EXPECT_EQ(std::current_exception(), nullptr);
    mutex.unlock();
    s.join();
    EXPECT_EQ(seen, 1234 + i);
    EXPECT_TRUE(handled);
  }
}

// A queue of bounded length between producers and consumers.
class bounded_queue {
public:
  void put(int value) {
    std::unique_lock lock{mutex_};
    not_full_.wait(lock, [this] { return values_.size() < 4; });
    values_.push_back(value);
    not_empty_.notify_one();
  }
  int take() {
    std::unique_lock lock{mutex_};
    not_empty_.wait(lock, [this] { return !values_.empty(); });
    const int value = values_.front();
    values_.pop_front();
    not_full_.notify_one();
    return value;
  }

private:
  nopal::mutex mutex_;
  nopal::condition_variable not_full_;
  nopal::condition_variable not_empty_;
  std::deque<int> values_;
};

TEST(condition_variable, producers_and_consumers) {
  bounded_queue queue;
  const int each = repetitions(2000, 200);
  std::atomic<long> sum{0};
  std::thread stranger([&] {
    for (int i = 0; i < each; ++i)
      queue.put(i);
  });
  nopal::scope s;
  for (int k = 0; k < 3; ++k)
    s.fork([&] {
      for (int i = 0; i < each; ++i)
        sum += queue.take();
    });
  for (int k = 0; k < 2; ++k)
    s.fork([&] {
      for (int i = 0; i < each; ++i)
        queue.put(i);
    });
  s.join();
  stranger.join();
  EXPECT_EQ(sum, 3L * each * (each - 1) / 2);
}

TEST(condition_variable, notify_all_wakes_all) {
  for (int round = 0; round < repetitions(50, 10); ++round) {
    nopal::mutex mutex;
    nopal::condition_variable changed;
    bool go = false;
    int waiting = 0;
    int woken = 0;
    nopal::scope s;
    s.fork([&] {
      nopal::for_index(
          0, 20,
          [&](int) {
            std::unique_lock lock{mutex};
            waiting += 1;
            changed.wait(lock, [&go] { return go; });
            woken += 1;
          },
          1);
    });
    for (bool all = false; !all; std::this_thread::yield()) {
      const std::lock_guard guard{mutex};
      all = waiting == 20;
    }
    {
      const std::lock_guard guard{mutex};
      go = true;
      changed.notify_all();
    }
    s.join();
    ASSERT_EQ(woken, 20);
  }
}

} // namespace nopal_test
