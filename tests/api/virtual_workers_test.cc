// SPDX-License-Identifier: MIT
// Virtual workers: one thread, and an order that the seed decides (NOPAL_VIRTUAL_WORKERS).
#include "nopal/channel.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/policies.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"

#include <mutex>
#include <set>
#include <vector>

namespace nopal_test {
namespace {

// A hash of the events in their order. It needs no lock, since there is one thread.
struct trace {
  std::uint64_t hash = 14695981039346656037u;
  void note(std::uint64_t event) { hash = (hash ^ event) * 1099511628211u; }
};

void count_to(trace& of, std::uint64_t name, int depth) {
  of.note(name);
  if (depth == 0)
    return;
  nopal::scope s;
  s.fork([&of, name, depth] { count_to(of, 2 * name, depth - 1); });
  count_to(of, 2 * name + 1, depth - 1);
  s.join();
  of.note(name);
}

std::uint64_t forks_and_fibers() {
  trace of;
  nopal::channel<int> values;
  nopal::mutex mutex;
  nopal::run([&] {
    for (std::uint64_t name = 1; name <= 3; ++name)
      nopal::spawn([&, name] {
        count_to(of, name << 20, 4);
        const std::lock_guard guard{mutex};
        nopal::poll();
        of.note(name);
        values.send(static_cast<int>(name));
      });
    for (int i = 0; i < 3; ++i)
      of.note(static_cast<std::uint64_t>(values.recv()));
  });
  return of.hash;
}

// Runs the program in a process of its own, since the first fork fixes the options.
std::uint64_t with(unsigned workers, std::uint64_t seed, std::uint64_t (*program)()) {
  const auto result = apart([=] {
    nopal::configure({.virtual_workers = workers, .seed = seed});
    return program();
  });
  EXPECT_TRUE(result.has_value());
  return result.value_or(0);
}

TEST(virtual_workers, replay_an_order_exactly) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(with(4, seed, forks_and_fibers), with(4, seed, forks_and_fibers)) << seed;
}

TEST(virtual_workers, take_another_order_with_another_seed) {
  std::set<std::uint64_t> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    orders.insert(with(4, seed, forks_and_fibers));
  EXPECT_GT(orders.size(), 15u);
}

// One virtual worker runs in the serial order, whatever the seed.
TEST(virtual_workers, one_is_serial) {
  const auto serial = [] {
    trace of;
    count_to(of, 1, 6);
    return of.hash;
  };
  EXPECT_EQ(with(1, 1, serial), with(1, 2, serial));
  EXPECT_NE(with(2, 1, serial), with(1, 1, serial));
}

// Continuations are stolen, though there is one thread.
TEST(virtual_workers, steal) {
  const auto steals = [] {
    trace of;
    count_to(of, 1, 8);
    return nopal::stats().steals;
  };
  EXPECT_GT(with(8, 1, steals), 10u);
}

// A worker steals only if there is a stack for what it steals.
TEST(virtual_workers, steal_no_more_than_there_are_stacks_for) {
  const auto result = apart([] {
    nopal::configure({.max_stacks = 2, .virtual_workers = 8, .seed = 1});
    trace of;
    for (int i = 0; i < 20; ++i)
      count_to(of, 1, 6);
    return of.hash;
  });
  EXPECT_TRUE(result.has_value());
}

// A race that needs a schedule: both children read before either has written.
TEST(virtual_workers, find_a_lost_update) {
  const auto lost = [] {
    int count = 0;
    const auto add = [&count] {
      const int seen = count;
      nopal::poll();
      count = seen + 1;
    };
    nopal::scope s;
    s.fork(add);
    add();
    s.join();
    return static_cast<std::uint64_t>(2 - count);
  };
  std::set<std::uint64_t> outcomes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    outcomes.insert(with(2, seed, lost));
  EXPECT_EQ(outcomes, (std::set<std::uint64_t>{0, 1}));
}

// Virtual workers run policies, too.
TEST(virtual_workers, replay_a_policy) {
  const auto program = []() -> std::uint64_t {
    trace of;
    nopal::round_robin order;
    nopal::run(order, [&] {
      for (std::uint64_t name = 1; name <= 4; ++name)
        nopal::spawn([&of, name] { count_to(of, name << 20, 3); });
    });
    return of.hash;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(with(3, seed, program), with(3, seed, program)) << seed;
}

} // namespace
} // namespace nopal_test
