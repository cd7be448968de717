// SPDX-License-Identifier: MIT
// nopal::run, spawn and yield: what a region waits for, what fibers keep, and forks, regions and
// exceptions in them.
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "tests/api/support.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {

struct thrown_by_fiber {};

// The compiler would keep the place of errno across a change of threads.
[[gnu::noinline]] int own_error() { return errno; }
[[gnu::noinline]] void set_own_error(int value) { errno = value; }

TEST(fiber, run_returns_what_its_function_returns) {
  EXPECT_EQ(nopal::run([] { return 7; }), 7);
  int place = 0;
  int& same = nopal::run([&]() -> int& { return place; });
  EXPECT_EQ(&same, &place);
  EXPECT_EQ(*nopal::run([] { return std::make_unique<int>(3); }), 3);
}

TEST(fiber, run_returns_after_all_that_it_spawned) {
  std::atomic<int> ended{0};
  nopal::run([&] {
    for (int i = 0; i < 50; ++i)
      nopal::spawn([&] {
        nopal::spawn([&] {
          nopal::yield();
          ended.fetch_add(1);
        });
        ended.fetch_add(1);
      });
  });
  EXPECT_EQ(ended.load(), 100);
}

TEST(fiber, run_returns_on_its_thread) {
  const auto self = std::this_thread::get_id();
  nopal::run([&] {
    for (int i = 0; i < 20; ++i)
      nopal::spawn([] { fib(6); });
    fib(8);
  });
  EXPECT_EQ(std::this_thread::get_id(), self);
}

// The closure is a copy, or moved; it is destroyed once, when its fiber has ended.
TEST(fiber, a_closure_is_destroyed_before_run_returns) {
  auto counted = std::make_shared<int>(1);
  nopal::run([&] {
    for (int i = 0; i < 10; ++i)
      nopal::spawn([counted] { nopal::yield(); });
    nopal::spawn([owned = std::make_unique<int>(5)] { EXPECT_EQ(*owned, 5); });
  });
  EXPECT_EQ(counted.use_count(), 1);
}

// Each of two fibers waits for the other: forks could not do this.
TEST(fiber, fibers_wait_for_one_another) {
  std::vector<int> order;
  nopal::channel<int> there;
  nopal::channel<int> back;
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < 100; ++i)
        back.send(there.recv() + 1);
    });
    for (int i = 0; i < 100; ++i) {
      there.send(2 * i);
      order.push_back(back.recv());
    }
  });
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(order[static_cast<std::size_t>(i)], 2 * i + 1);
}

TEST(fiber, yield_lets_others_run) {
  std::atomic<bool> done{false};
  nopal::run([&] {
    nopal::spawn([&] { done.store(true); });
    while (!done.load())
      nopal::yield();
  });
  EXPECT_TRUE(done.load());
  nopal::yield(); // no strand: no effect
}

// Ready fibers stay with the vproc that made them ready, but only as long as it turns to them.
TEST(fiber, a_busy_fiber_keeps_no_ready_one_from_running) {
  std::atomic<bool> done{false};
  nopal::channel<int> go;
  nopal::run([&] {
    nopal::spawn([&] {
      go.recv();
      done.store(true);
    });
    nopal::spawn([&] {
      go.send(1);
      while (!done.load()) // neither waits, forks nor gives way
        std::this_thread::yield();
    });
  });
  EXPECT_TRUE(done.load());
}

// On the short way between two strands (sched/park.cc) as on the long one nobody is forgotten.
TEST(fiber, those_that_give_way_all_go_on) {
  std::vector<int> order;
  nopal::mutex one_at_a_time; // they may run on several threads
  nopal::run([&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&, i] {
        for (int turn = 0; turn < 200; ++turn) {
          {
            const std::lock_guard guard{one_at_a_time};
            order.push_back(i);
          }
          nopal::yield();
        }
      });
  });
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(std::count(order.begin(), order.end(), i), 200);
}

TEST(fiber, fibers_fork) {
  const int n = repetitions(14, 6);
  const int count = repetitions(20, 5);
  std::atomic<long> total{0};
  nopal::run([&] {
    const auto add = [&] { total.fetch_add(fib(n)); };
    for (int i = 0; i < count; ++i)
      nopal::spawn(add);
    nopal::for_index(0, count, [&](int) { nopal::spawn(add); }, 1);
  });
  EXPECT_EQ(total.load(), 2 * count * fib(n));
}

// A fiber waits with open forks above it, which others take meanwhile.
TEST(fiber, a_fiber_waits_below_its_forks) {
  int received = 0;
  nopal::channel<int> from_continuation;
  nopal::run([&] {
    nopal::spawn([&] {
      nopal::scope s;
      s.fork([&] { received = from_continuation.recv(); });
      nopal::spawn([&] { from_continuation.send(11); }); // another thread has to come for this
      s.join();
      received += 1;
    });
  });
  EXPECT_EQ(received, 12);
}

TEST(fiber, errno_is_a_fibers_own) {
  std::atomic<int> wrong{0};
  nopal::run([&] {
    set_own_error(3);
    for (int i = 0; i < 16; ++i)
      nopal::spawn([&wrong, i] {
        wrong += own_error() != 0;
        set_own_error(100 + i);
        nopal::yield();
        wrong += own_error() != 100 + i;
      });
    nopal::yield();
    wrong += own_error() != 3;
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(fiber, fibers_wait_in_handlers) {
  std::atomic<int> wrong{0};
  nopal::run([&] {
    for (int i = 0; i < 16; ++i)
      nopal::spawn([&wrong, i] {
        try {
          throw std::runtime_error(std::to_string(i));
        } catch (const std::runtime_error& thrown) {
          nopal::yield();
          try {
            throw;
          } catch (const std::runtime_error& again) {
            wrong += again.what() != std::to_string(i) || &again != &thrown;
          }
        }
        wrong += std::current_exception() != nullptr;
      });
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(fiber, run_throws_what_a_fiber_has_thrown) {
  std::atomic<int> ended{0};
  const auto body = [&] {
    nopal::spawn([] { throw std::runtime_error("fiber"); });
    nopal::spawn([&] {
      nopal::yield();
      ended += 1;
    });
  };
  EXPECT_THROW(nopal::run(body), std::runtime_error);
  EXPECT_EQ(ended.load(), 1);
}

TEST(fiber, the_exception_of_the_function_comes_first) {
  std::atomic<int> ended{0};
  const auto body = [&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&] {
        ended += 1;
        throw std::runtime_error("fiber");
      });
    while (ended != 3)
      nopal::yield();
    throw std::logic_error("body");
  };
  EXPECT_THROW(nopal::run(body), std::logic_error);
}

// A fiber that fails cancels no other one.
TEST(fiber, one_that_fails_lets_others_end) {
  nopal::channel<int> later;
  std::atomic<int> received{0};
  const auto body = [&] {
    nopal::spawn([&] { received = later.recv(); });
    nopal::spawn([] { throw thrown_by_fiber{}; });
    nopal::yield();
    later.send(5);
  };
  EXPECT_THROW(nopal::run(body), thrown_by_fiber);
  EXPECT_EQ(received, 5);
}

TEST(fiber, exceptions_of_other_fibers_are_counted) {
  std::uint64_t suppressed = 0;
  try {
    nopal::run([] {
      for (int i = 0; i < 4; ++i)
        nopal::spawn([] { throw thrown_by_fiber{}; });
    });
    FAIL();
  } catch (const thrown_by_fiber&) {
    suppressed = nopal::suppressed_exceptions();
  }
  EXPECT_EQ(suppressed, 3u);
}

// A library may run fibers of its own below a fiber of its caller.
TEST(fiber, regions_nest) {
  std::atomic<int> inner{0};
  std::atomic<int> outer{0};
  nopal::run([&] {
    for (int i = 0; i < 8; ++i)
      nopal::spawn([&] {
        nopal::run([&] {
          for (int j = 0; j < 8; ++j)
            nopal::spawn([&] { inner += 1; });
        });
        outer += 1;
      });
  });
  EXPECT_EQ(inner.load(), 64);
  EXPECT_EQ(outer.load(), 8);
}

// In an affine region that is none of `run`, the fiber belongs to the region of `run` outside.
TEST(fiber, spawn_belongs_to_the_innermost_run) {
  std::atomic<int> ended{0};
  nopal::run([&] {
    nopal::affine([&] {
      for (int i = 0; i < 5; ++i)
        nopal::spawn([&] {
          nopal::yield();
          ended += 1;
        });
    });
  });
  EXPECT_EQ(ended.load(), 5);
}

TEST(fiber, several_threads_run_regions) {
  std::atomic<int> ended{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      nopal::run([&] {
        for (int i = 0; i < 25; ++i)
          nopal::spawn([&] {
            fib(5);
            ended += 1;
          });
      });
    });
  for (std::thread& each : threads)
    each.join();
  EXPECT_EQ(ended.load(), 100);
}

TEST(fiber, fibers_hold_a_mutex_across_waits) {
  nopal::mutex m;
  int inside = 0;
  std::atomic<int> overlaps{0};
  nopal::run([&] {
    for (int i = 0; i < 40; ++i)
      nopal::spawn([&] {
        const std::lock_guard guard{m};
        overlaps += inside != 0;
        inside += 1;
        nopal::yield();
        inside -= 1;
      });
  });
  EXPECT_EQ(overlaps.load(), 0);
}

// Many at a time, each of which has begun.
TEST(fiber, a_thousand_fibers_wait_at_once) {
  const int count = on_valgrind() ? 100 : 1000;
  std::atomic<int> begun{0};
  std::atomic<long> sum{0};
  nopal::channel<int> values;
  nopal::run([&] {
    for (int i = 0; i < count; ++i)
      nopal::spawn([&] {
        begun += 1;
        sum += values.recv();
      });
    while (begun.load() != count)
      nopal::yield();
    for (int i = 0; i < count; ++i)
      values.send(i);
  });
  EXPECT_EQ(sum.load(), static_cast<long>(count) * (count - 1) / 2);
}

using fiber_death = death;
TEST_F(fiber_death, spawn_outside_a_region) {
  EXPECT_DEATH(nopal::spawn([] {}), "a fiber was made outside nopal::run");
}

} // namespace nopal_test
