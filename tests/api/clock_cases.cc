// SPDX-License-Identifier: MIT
// Waits until a time of a clock that is slower than the steady one, stands still, or is set back:
// each ends when that clock says so, not before. Waits of no time: these ask no other thread.
#include "nopal/cancel.h"
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/mutex.h"
#include "nopal/semaphore.h"
#include "nopal/sleep.h"
#include "tests/api/endless.h"
#include "tests/api/support.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

struct any_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
};

// Half as fast as the steady clock.
struct slow_clock : any_clock {
  using time_point = std::chrono::time_point<slow_clock>;
  static inline const steady::time_point origin = steady::now();
  static time_point now() { return time_point{(steady::now() - origin) / 2}; }
};

// The test sets it.
struct set_clock : any_clock {
  using time_point = std::chrono::time_point<set_clock>;
  static inline std::atomic<rep> time{0};
  static inline std::atomic<int> looks{0};
  static time_point now() {
    ++looks;
    return time_point{duration{time}};
  }
};

// A child that is cancelled at that time of the slow clock.
void be_cancelled(slow_clock::time_point until) {
  nopal::cancel_scope s{until};
  s.fork([] { poll_for_ever(); });
  EXPECT_FALSE(s.try_join());
}
void be_cancelled_as_fiber(slow_clock::time_point until) {
  nopal::cancelable all;
  all.cancel_at(until);
  nopal::run([&] { nopal::spawn(all, [] { poll_for_ever(); }); });
}

// Each waits in vain until that time.
template <class Time> struct waits {
  static void for_sleep(Time until) { nopal::sleep_until(until); }
  static void for_mutex(Time until) {
    nopal::mutex held;
    held.lock();
    EXPECT_FALSE(held.try_lock_until(until));
    held.unlock();
  }
  static void for_semaphore(Time until) {
    nopal::semaphore none{0};
    EXPECT_FALSE(none.try_acquire_until(until));
  }
  static void for_condition(Time until) {
    nopal::mutex held;
    nopal::condition_variable never;
    std::unique_lock lock{held};
    EXPECT_FALSE(never.wait_until(lock, until, [] { return false; }));
    EXPECT_TRUE(lock.owns_lock());
  }
  static void for_select(Time until) {
    nopal::channel<int> a, b;
    EXPECT_EQ(nopal::select(nopal::recv(a, [](int) {}), nopal::send(b, 1), nopal::timeout(until)),
              2u);
  }
  static void for_select_of_one(Time until) {
    nopal::channel<int> a;
    EXPECT_EQ(nopal::select(nopal::recv(a, [](int) {}), nopal::timeout(until)), 1u);
  }
  static void for_select_of_a_range(Time until) {
    nopal::channel<int> a, b;
    std::vector<nopal::any_case> cases;
    cases.emplace_back(nopal::recv(a, [](int) {}));
    cases.emplace_back(nopal::send(b, 1));
    EXPECT_EQ(nopal::select(cases, nopal::timeout(until)), 2u);
  }
  static constexpr void (*all[])(Time) = {
      for_sleep,  for_mutex,         for_semaphore,        for_condition,
      for_select, for_select_of_one, for_select_of_a_range};
};

// On a thread that runs no strands, in a strand, in a fiber, and in one that was stolen.
template <class Wait> void everywhere(Wait wait) {
  std::thread{wait}.join();
  wait();
  nopal::run([&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn(wait);
  });
  nopal::scope s;
  s.fork(wait);
  wait();
  s.join();
}

TEST(other_clocks, end_no_wait_early) {
  for (const auto wait : waits<slow_clock::time_point>::all)
    everywhere([=] {
      const auto until = slow_clock::now() + 2ms;
      wait(until);
      EXPECT_GE(slow_clock::now(), until);
    });
}

TEST(other_clocks, cancel_nothing_early) {
  for (const auto cancelled : {be_cancelled, be_cancelled_as_fiber})
    everywhere([=] {
      const auto until = slow_clock::now() + 2ms;
      cancelled(until);
      EXPECT_GE(slow_clock::now(), until);
    });
}

// Scopes end while their alarms are set anew.
TEST(other_clocks, leave_scopes_alone_that_have_ended) {
  for (int round = 0; round < repetitions(500, 50); ++round) {
    bool ran = false;
    nopal::cancel_scope s{slow_clock::now() + std::chrono::microseconds{round}};
    s.fork(ran, [] { return true; });
    const bool complete = s.try_join();
    EXPECT_TRUE(ran || !complete);
  }
}

// The clock stands still for some looks, is set back, and then to the end.
TEST(other_clocks, are_looked_at_until_they_say_so) {
  for (const auto wait : waits<set_clock::time_point>::all) {
    set_clock::time = 1000;
    std::atomic<bool> returned{false};
    std::thread waiting{[&] {
      nopal::run([&] { wait(set_clock::time_point{2us}); });
      returned = true;
    }};
    for (const set_clock::rep now : {1000, 1500, 100}) {
      set_clock::time = now;
      const int before = set_clock::looks;
      while (set_clock::looks < before + 3)
        std::this_thread::yield();
      EXPECT_FALSE(returned);
    }
    set_clock::time = 2000;
    waiting.join();
  }
}

TEST(other_clocks, let_others_come_first) {
  set_clock::time = 0;
  const set_clock::time_point never_comes{1us};
  const auto after_looks = [](auto act) {
    const int before = set_clock::looks;
    while (set_clock::looks < before + 3)
      nopal::yield();
    act();
  };
  nopal::run([&] {
    nopal::channel<int> values;
    nopal::semaphore permits{0};
    nopal::mutex mutex;
    nopal::condition_variable changed;
    bool holds = false;
    nopal::spawn([&] {
      after_looks([&] { values.send(7); });
      after_looks([&] { permits.release(); });
      after_looks([&] { mutex.unlock(); });
      after_looks([&] {
        const std::lock_guard guard{mutex};
        holds = true;
        changed.notify_one();
      });
    });
    EXPECT_EQ(nopal::select(nopal::recv(values, [](int v) { EXPECT_EQ(v, 7); }),
                            nopal::timeout(never_comes)),
              0u);
    EXPECT_TRUE(permits.try_acquire_until(never_comes));
    mutex.lock();
    EXPECT_TRUE(mutex.try_lock_until(never_comes));
    std::unique_lock lock{mutex, std::adopt_lock};
    EXPECT_TRUE(changed.wait_until(lock, never_comes, [&] { return holds; }));
  });
}

TEST(other_clocks, stop_no_wait_from_being_cancelled) {
  set_clock::time = 0;
  for (const auto wait : waits<set_clock::time_point>::all) {
    nopal::cancel_scope s;
    bool returned = false;
    s.fork([&] {
      wait(set_clock::time_point{1us});
      returned = true;
    });
    const int before = set_clock::looks;
    while (set_clock::looks < before + 3)
      nopal::poll();
    s.cancel();
    EXPECT_FALSE(s.try_join());
    EXPECT_FALSE(returned);
  }
}

std::ptrdiff_t threads() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/task"},
                       std::filesystem::directory_iterator{});
}

// A thread that keeps times would be there from then on.
TEST(no_time, is_waited_for_without_another_thread) {
  nopal::run([] {
    nopal::mutex held;
    held.lock();
    nopal::semaphore none{0};
    nopal::mutex mutex;
    nopal::condition_variable never;
    nopal::channel<int> empty;
    std::unique_lock lock{mutex};
    nopal::spawn([] {});
    nopal::yield(); // the thread that preempts is there from now on
    const auto before = threads();
    for (const auto time : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
      EXPECT_FALSE(held.try_lock_for(time));
      EXPECT_FALSE(none.try_acquire_for(time));
      EXPECT_FALSE(never.wait_for(lock, time, [] { return false; }));
      EXPECT_EQ(nopal::select(nopal::recv(empty, [](int) {}), nopal::timeout(time)), 1u);
      nopal::sleep_for(time);
      const auto now = steady::now();
      EXPECT_FALSE(held.try_lock_until(now));
      EXPECT_FALSE(none.try_acquire_until(now));
      EXPECT_FALSE(never.wait_until(lock, now, [] { return false; }));
      nopal::sleep_until(now);
    }
    EXPECT_EQ(threads(), before);
  });
}

// A loop of waits of no time leaves the mutex, and the turn, to those that make the condition true.
TEST(no_time, leaves_the_mutex_to_others) {
  nopal::run([] {
    nopal::mutex mutex;
    nopal::condition_variable changed;
    bool holds = false;
    nopal::spawn([&] {
      const std::lock_guard guard{mutex};
      holds = true;
    });
    std::unique_lock lock{mutex};
    while (!changed.wait_for(lock, 0s, [&] { return holds; })) {
    }
    EXPECT_TRUE(lock.owns_lock());
  });
}

TEST(no_time, is_waited_for_by_no_strand_that_is_cancelled) {
  const std::function<void()> kinds[] = {
      [] {
        nopal::mutex held;
        held.lock();
        held.try_lock_for(0s);
      },
      [] { nopal::semaphore{0}.try_acquire_for(0s); },
      [] {
        nopal::mutex mutex;
        std::unique_lock lock{mutex};
        nopal::condition_variable{}.wait_for(lock, 0s, [] { return false; });
      },
      [] { nopal::sleep_for(0s); },
  };
  for (const auto& wait : kinds) {
    gate running;
    nopal::cancel_scope s;
    std::thread cancels{[&] {
      running.wait();
      s.cancel();
    }};
    s.fork([&] {
      running.open();
      for (;;)
        wait();
    });
    EXPECT_FALSE(s.try_join());
    cancels.join();
  }
}

} // namespace
} // namespace nopal_test
