// SPDX-License-Identifier: MIT
// Computations that are limited to some vprocs (nopal/arena.h).
#include "nopal/affine.h"
#include "nopal/arena.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {

// Counts the threads that are inside at the same time, and the most there ever were.
class inside {
public:
  template <class F> void enter(F f) {
    const int now = now_.fetch_add(1) + 1;
    int seen = most_.load();
    while (seen < now && !most_.compare_exchange_weak(seen, now))
      continue;
    f();
    now_.fetch_sub(1);
  }
  int most() const { return most_; }

private:
  std::atomic<int> now_{0};
  std::atomic<int> most_{0};
};

TEST(arena, runs_what_it_is_given) {
  for (unsigned vprocs = 1; vprocs <= 4; ++vprocs) {
    nopal::arena some{vprocs};
    EXPECT_EQ(some.run([] { return fib(15); }), 610);
  }
}

TEST(arena, has_no_more_than_its_vprocs) {
  for (unsigned vprocs = 1; vprocs <= 3; ++vprocs) {
    nopal::arena some{vprocs};
    inside leaves;
    some.run([&] {
      nopal::for_index(
          0, repetitions(200, 20), [&](int) { leaves.enter([] { std::this_thread::yield(); }); },
          1);
    });
    EXPECT_LE(leaves.most(), static_cast<int>(vprocs));
  }
}

// Other threads do join: the child ends only after a second thread has run the continuation.
TEST(arena, is_joined_by_others) {
  nopal::arena two{2};
  for (int i = 0; i < 20; ++i)
    two.run([] { be_stolen(); });
}

TEST(arena, returns_on_its_thread) {
  nopal::arena two{2};
  for (int i = 0; i < 20; ++i) {
    const pthread_t before = this_thread();
    two.run([] { fib(12); });
    EXPECT_EQ(this_thread(), before);
  }
}

TEST(arena, throws_what_was_thrown) {
  nopal::arena two{2};
  std::string seen;
  try {
    two.run([] {
      nopal::for_index(0, 50, [](int i) {
        if (i == 7)
          throw std::runtime_error("seven");
      });
    });
  } catch (const std::runtime_error& thrown) {
    seen = thrown.what();
  }
  EXPECT_EQ(seen, "seven");
}

// Two computations at a time, each within its own vprocs.
TEST(arena, two_side_by_side_are_isolated) {
  std::array<inside, 2> leaves;
  std::array<std::thread, 2> callers;
  for (std::size_t which = 0; which < 2; ++which)
    callers[which] = std::thread{[&, which] {
      nopal::arena two{2};
      for (int i = 0; i < 10; ++i)
        two.run([&] {
          nopal::for_index(
              0, repetitions(50, 10),
              [&](int) {
                leaves[which].enter([] {
                  std::this_thread::yield();
                  fib(5);
                });
              },
              1);
        });
    }};
  for (std::thread& each : callers)
    each.join();
  EXPECT_LE(leaves[0].most(), 2);
  EXPECT_LE(leaves[1].most(), 2);
}

TEST(arena, nests) {
  nopal::arena outer{3};
  std::atomic<long> sum{0};
  outer.run([&] {
    nopal::for_index(0, 8, [&](int) {
      nopal::arena inner{2};
      sum += inner.run([] { return fib(10); });
      sum += nopal::affine([] { return fib(10); });
    });
  });
  EXPECT_EQ(sum, 16 * 55);
}

// Fibers of an arena stay there, also those that wait, give way, and are preempted.
TEST(arena, keeps_its_fibers) {
  nopal::arena two{2};
  int received = 0;
  two.run([&] {
    nopal::channel<int> values;
    nopal::run([&] {
      for (int i = 0; i < 10; ++i)
        nopal::spawn([&] {
          fib(6);
          nopal::yield();
          nopal::poll();
          values.send(1);
        });
      for (int i = 0; i < 10; ++i)
        received += values.recv();
    });
  });
  EXPECT_EQ(received, 10);
}

TEST(arena, beside_other_work) {
  std::atomic<bool> stop{false};
  std::thread other{[&] {
    while (!stop)
      fib(12);
  }};
  nopal::arena two{2};
  for (int i = 0; i < repetitions(50, 2); ++i)
    EXPECT_EQ(two.run([] { return fib(14); }), 377);
  stop = true;
  other.join();
}

using arena_death = death;

TEST_F(arena_death, has_at_least_one_vproc) {
  EXPECT_DEATH(nopal::arena{0}, "a nopal::arena has 0 vprocs, but it must have at least one");
}

} // namespace nopal_test
