// SPDX-License-Identifier: MIT
// Waits until a time: sleeps, selects with a timeout, mutexes, conditions and semaphores; each
// also where what is waited for comes first, and where the strand is cancelled. Semaphores without
// times.
#include "nopal/cancel.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/semaphore.h"
#include "nopal/sleep.h"
#include "tests/api/support.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace nopal_test {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
constexpr auto soon = 200us;
constexpr auto for_ever = 24h * 365;

// A child of a cancel scope calls `wait`, which does not end by itself.
template <class Wait> void cancel_during(Wait wait) {
  for (int round = 0; round < repetitions(50, 10); ++round) {
    gate running;
    std::atomic<int> returned{0};
    nopal::cancel_scope s;
    s.fork([&] {
      running.open();
      wait();
      returned += 1;
    });
    running.wait();
    s.cancel();
    EXPECT_FALSE(s.try_join());
    EXPECT_EQ(returned, 0);
  }
}

TEST(sleep, ends_when_its_time_has_come) {
  nopal::run([&] {
    for (int i = 0; i < 50; ++i)
      nopal::spawn([i] {
        const auto until = steady::now() + i * soon;
        nopal::sleep_until(until);
        EXPECT_GE(steady::now(), until);
      });
  });
  const auto until = steady::now() + soon; // on a thread that runs no strands
  nopal::sleep_until(until);
  EXPECT_GE(steady::now(), until);
  nopal::sleep_for(-1s);
}

// Other fibers run, also on one worker.
TEST(sleep, keeps_no_thread) {
  nopal::channel<int> values;
  int received = 0;
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < 20; ++i) {
        nopal::sleep_for(10us);
        values.send(i);
      }
    });
    for (int i = 0; i < 20; ++i)
      received += values.recv();
  });
  EXPECT_EQ(received, 190);
}

TEST(sleep, ends_when_its_strand_is_cancelled) {
  cancel_during([] { nopal::sleep_for(for_ever); });
  cancel_during([] { nopal::sleep_until(steady::time_point::max()); });
}

TEST(sleep, goes_on_with_open_forks) {
  std::atomic<int> sum{0};
  nopal::for_index(
      0, 30,
      [&](int i) {
        nopal::sleep_for(i * 10us);
        sum += i;
      },
      1);
  EXPECT_EQ(sum, 435);
}

TEST(timeout, is_the_case_that_is_done_when_nothing_comes) {
  nopal::channel<int> silent;
  nopal::channel<int> full{1};
  full.send(0);
  int times = 0;
  const auto count = [&] { times += 1; };
  const auto never = [](int) { FAIL(); };
  const auto wait = [&] {
    EXPECT_EQ(nopal::select(nopal::recv(silent, never), nopal::timeout(soon, count)), 1u);
    EXPECT_EQ(nopal::select(nopal::recv(silent, never), nopal::send(full, 1),
                            nopal::timeout(steady::now() + soon, count)),
              2u);
    EXPECT_EQ(nopal::select(nopal::recv(silent, never), nopal::timeout(-1s, count)), 1u);
    std::vector<nopal::any_case> cases;
    cases.emplace_back(nopal::recv(silent, never));
    EXPECT_EQ(nopal::select(cases, nopal::timeout(soon, count)), 1u);
  };
  nopal::run(wait);
  wait(); // on a thread that runs no strands
  EXPECT_EQ(times, 8);
}

TEST(timeout, is_not_done_where_a_value_comes_first) {
  nopal::channel<int> values;
  int received = 0;
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < 100; ++i)
        values.send(1);
    });
    for (int i = 0; i < 100; ++i)
      EXPECT_EQ(nopal::select(nopal::recv(values, [&](int value) { received += value; }),
                              nopal::timeout(for_ever)),
                0u);
  });
  EXPECT_EQ(received, 100);
}

// A value and a time that come at once: the value is received, or the sender has it still.
TEST(timeout, loses_no_value) {
  nopal::channel<std::unique_ptr<int>> values;
  const int rounds = repetitions(2000, 100);
  int received = 0;
  int kept = 0;
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < rounds; ++i) {
        auto mine = std::make_unique<int>(i);
        if (nopal::select(nopal::send(values, std::move(mine)), nopal::timeout(i % 50 * 1us)) == 1)
          kept += mine != nullptr ? 1 : 0;
      }
      values.close();
    });
    for (bool open = true; open;)
      nopal::select(nopal::recv(
                        values, [&](std::unique_ptr<int> value) { received += value != nullptr; },
                        [&] { open = false; }),
                    nopal::timeout(20us));
  });
  EXPECT_EQ(received + kept, rounds);
}

TEST(timeout, does_not_keep_a_cancelled_strand) {
  nopal::channel<int> silent;
  cancel_during([&] { nopal::select(nopal::recv(silent, [](int) {}), nopal::timeout(for_ever)); });
}

TEST(timed_mutex, is_not_had_while_another_has_it) {
  nopal::mutex held;
  held.lock();
  const auto wait = [&] {
    EXPECT_FALSE(held.try_lock_for(soon));
    EXPECT_FALSE(held.try_lock_until(steady::now() + soon));
    EXPECT_FALSE(held.try_lock_for(0s));
  };
  nopal::run(wait);
  wait();
  std::thread other([&] { EXPECT_TRUE(held.try_lock_for(for_ever)); });
  held.unlock();
  other.join();
  held.unlock();
  std::unique_lock lock{held, soon};
  EXPECT_TRUE(lock.owns_lock());
}

// Those that wait too long and those that get it: each entry is alone.
TEST(timed_mutex, is_one_strands_at_a_time) {
  nopal::mutex lock;
  int inside = 0; // under the mutex
  std::atomic<int> entered{0};
  const int each = repetitions(200, 30);
  nopal::run([&] {
    for (int f = 0; f < 4; ++f)
      nopal::spawn([&] {
        for (int i = 0; i < each; ++i)
          if (lock.try_lock_for(i % 20 * 1us)) {
            inside += 1;
            nopal::yield();
            entered += 1;
            lock.unlock();
          }
      });
  });
  EXPECT_EQ(inside, entered);
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(timed_mutex, does_not_keep_a_cancelled_strand) {
  nopal::mutex held;
  held.lock();
  cancel_during([&] { EXPECT_TRUE(held.try_lock_for(for_ever)); });
  held.unlock();
}

TEST(timed_condition, says_whether_it_holds) {
  nopal::mutex lock;
  nopal::condition_variable changed;
  bool open = false;
  nopal::run([&] {
    std::unique_lock guard{lock};
    EXPECT_FALSE(changed.wait_for(guard, soon, [&] { return open; }));
    EXPECT_TRUE(guard.owns_lock());
    nopal::spawn([&] {
      const std::lock_guard inside{lock};
      open = true;
      changed.notify_all();
    });
    EXPECT_TRUE(changed.wait_until(guard, steady::now() + for_ever, [&] { return open; }));
  });
}

TEST(semaphore, lets_so_many_in) {
  nopal::semaphore permits{3};
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  nopal::run([&] {
    for (int f = 0; f < 12; ++f)
      nopal::spawn([&] {
        for (int i = 0; i < repetitions(50, 10); ++i) {
          permits.acquire();
          const int now = ++inside;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          nopal::yield();
          --inside;
          permits.release();
        }
      });
  });
  EXPECT_LE(most, 3);
  EXPECT_GE(most, 1);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(permits.try_acquire());
  EXPECT_FALSE(permits.try_acquire());
}

TEST(semaphore, gives_several_at_once) {
  nopal::semaphore permits{0};
  std::atomic<int> had{0};
  nopal::run([&] {
    for (int f = 0; f < 6; ++f)
      nopal::spawn([&] {
        permits.acquire();
        had += 1;
      });
    nopal::yield();
    permits.release(4);
    permits.release(0);
    permits.release(4);
  });
  EXPECT_EQ(had, 6);
  EXPECT_TRUE(permits.try_acquire_for(0s));
  EXPECT_TRUE(permits.try_acquire());
  EXPECT_FALSE(permits.try_acquire_for(soon));
  EXPECT_FALSE(permits.try_acquire_until(steady::now() + soon));
}

TEST(semaphore, wakes_a_foreign_thread) {
  nopal::semaphore permits{0};
  std::thread other([&] { permits.acquire(); });
  nopal::run([&] { permits.release(); });
  other.join();
  EXPECT_FALSE(permits.try_acquire());
}

TEST(semaphore, does_not_keep_a_cancelled_strand) {
  nopal::semaphore none{0};
  cancel_during([&] { none.acquire(); });
  cancel_during([&] { EXPECT_TRUE(none.try_acquire_for(for_ever)); });
  none.release();
  EXPECT_TRUE(none.try_acquire());
}

using semaphore_death = death;
TEST_F(semaphore_death, counts_no_less_than_none) {
  EXPECT_DEATH(nopal::semaphore{-1}, "a nopal::semaphore was given -1 permits");
}

} // namespace nopal_test
