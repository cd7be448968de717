// SPDX-License-Identifier: MIT
// Virtual workers: one thread, and an order that the seed decides (NOPAL_VIRTUAL_WORKERS).
#include "nopal/channel.h"
#include "nopal/future.h"
#include "nopal/invoke.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/policies.h"
#include "nopal/preemption.h"
#include "nopal/semaphore.h"
#include "tests/api/support.h"

#include <algorithm>
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

void count_to(trace& events, std::uint64_t name, int depth) {
  events.note(name);
  if (depth == 0)
    return;
  nopal::scope s;
  s.fork([&events, name, depth] { count_to(events, 2 * name, depth - 1); });
  count_to(events, 2 * name + 1, depth - 1);
  s.join();
  events.note(name);
}

std::uint64_t forks_and_fibers() {
  trace events;
  nopal::channel<int> values;
  nopal::mutex mutex;
  nopal::run([&] {
    for (std::uint64_t name = 1; name <= 3; ++name)
      nopal::spawn([&, name] {
        count_to(events, name << 20, 4);
        const std::lock_guard guard{mutex};
        nopal::poll();
        events.note(name);
        values.send(static_cast<int>(name));
      });
    for (int i = 0; i < 3; ++i)
      events.note(static_cast<std::uint64_t>(values.recv()));
  });
  return events.hash;
}

// Runs the program in a process of its own, since the first fork fixes the options.
std::uint64_t result_with(unsigned workers, std::uint64_t seed, std::uint64_t (*program)()) {
  const auto result = apart([=] {
    nopal::configure({.virtual_workers = workers, .seed = seed});
    return program();
  });
  EXPECT_TRUE(result.has_value());
  return result.value_or(0);
}

TEST(virtual_workers, replay_an_order_exactly) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(result_with(4, seed, forks_and_fibers), result_with(4, seed, forks_and_fibers))
        << seed;
}

TEST(virtual_workers, take_another_order_with_another_seed) {
  std::set<std::uint64_t> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    orders.insert(result_with(4, seed, forks_and_fibers));
  EXPECT_GT(orders.size(), 15u);
}

// The seed decides at each wait, too, which strand goes on.
struct six_fibers {
  trace events;
  // Each notes itself and waits, three times.
  template <class Wait> void run(Wait wait) {
    for (std::uint64_t name = 1; name <= 6; ++name)
      nopal::spawn([this, name, wait] {
        for (int i = 0; i < 3; ++i) {
          events.note(name);
          wait();
        }
      });
  }
};
std::uint64_t at_yields() {
  six_fibers all;
  nopal::run([&] { all.run([] { nopal::yield(); }); });
  return all.events.hash;
}
std::uint64_t at_a_channel(std::size_t buffer) {
  six_fibers all;
  nopal::channel<int> values{buffer};
  nopal::run([&] {
    all.run([&] { values.send(0); });
    for (int i = 0; i < 18; ++i)
      values.recv();
  });
  return all.events.hash;
}
std::uint64_t at_a_semaphore() {
  six_fibers all;
  nopal::semaphore one{1};
  nopal::run([&] {
    all.run([&] {
      one.acquire();
      nopal::yield();
      one.release();
    });
  });
  return all.events.hash;
}
std::uint64_t at_an_ivar() {
  six_fibers all;
  nopal::ivar<void> set;
  nopal::run([&] {
    all.run([&] { set.get(); });
    nopal::yield();
    set.set();
  });
  return all.events.hash;
}

TEST(virtual_workers, take_another_order_at_each_kind_of_wait) {
  const std::vector<std::uint64_t (*)()> kinds{at_yields, [] { return at_a_channel(0); },
                                               [] { return at_a_channel(4); }, at_a_semaphore,
                                               at_an_ivar};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    std::set<std::uint64_t> orders;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      orders.insert(result_with(4, seed, kinds[kind]));
    EXPECT_GT(orders.size(), 15u) << "kind " << kind;
    EXPECT_EQ(result_with(4, 1, kinds[kind]), result_with(4, 1, kinds[kind])) << "kind " << kind;
    EXPECT_EQ(result_with(1, 1, kinds[kind]), result_with(1, 2, kinds[kind])) << "kind " << kind;
  }
}

// One virtual worker runs in the serial order, whatever the seed.
TEST(virtual_workers, one_is_serial) {
  const auto serial = [] {
    trace events;
    count_to(events, 1, 6);
    return events.hash;
  };
  EXPECT_EQ(result_with(1, 1, serial), result_with(1, 2, serial));
  EXPECT_NE(result_with(2, 1, serial), result_with(1, 1, serial));
}

// Continuations are stolen, though there is one thread.
TEST(virtual_workers, steal) {
  const auto steals = [] {
    trace events;
    count_to(events, 1, 8);
    return nopal::stats().steals;
  };
  EXPECT_GT(result_with(8, 1, steals), 10u);
}

// A worker steals only if there is a stack for what it steals.
TEST(virtual_workers, steal_no_more_than_there_are_stacks_for) {
  const auto result = apart([] {
    nopal::configure({.max_stacks = 2, .virtual_workers = 8, .seed = 1});
    trace events;
    for (int i = 0; i < 20; ++i)
      count_to(events, 1, 6);
    return events.hash;
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
    outcomes.insert(result_with(2, seed, lost));
  EXPECT_EQ(outcomes, (std::set<std::uint64_t>{0, 1}));
}

// A knapsack by branch and bound: which item is put in decides how much is visited.
struct sack {
  enum class order { with_first, without_first, by_score };

  std::vector<long> weights, values;
  order chosen;
  long best = 0;
  std::uint64_t visited = 0;

  // At most so much is reached when what is left is filled at the density of the next item.
  double bound(std::size_t item, long room, long value) const {
    return room < 0 ? -1.0
           : item == weights.size()
               ? static_cast<double>(value)
               : static_cast<double>(value) +
                     static_cast<double>(room * values[item]) / static_cast<double>(weights[item]);
  }
  void explore(std::size_t item, long room, long value) {
    ++visited;
    if (room < 0 || bound(item, room, value) <= static_cast<double>(best))
      return;
    best = std::max(best, value);
    if (item == weights.size())
      return;
    const auto put_in = [&] { explore(item + 1, room - weights[item], value + values[item]); };
    const auto leave_out = [&] { explore(item + 1, room, value); };
    if (chosen == order::with_first)
      nopal::invoke(put_in, leave_out);
    else if (chosen == order::without_first)
      nopal::invoke(leave_out, put_in);
    else
      nopal::invoke_by_score(bound(item + 1, room, value), leave_out,
                             bound(item + 1, room - weights[item], value + values[item]), put_in);
  }
};

template <sack::order Order> std::uint64_t visits() {
  sack all;
  all.chosen = Order;
  long capacity = 9;
  for (long i = 0; i < 14; ++i) { // by density, whose differences are small
    all.weights.push_back(10 * (25 + 7 * i % 50));
    all.values.push_back(all.weights.back() + (i < 7 ? 3 : 1));
    capacity += all.weights.back() / 2;
  }
  all.explore(0, capacity, 0);
  return all.visited;
}

TEST(virtual_workers, a_search_by_score_visits_no_more_than_its_better_order) {
  for (const unsigned workers : {1u, 2u, 4u, 8u, 16u}) {
    const std::uint64_t with_first = result_with(workers, 1, visits<sack::order::with_first>);
    const std::uint64_t without_first = result_with(workers, 1, visits<sack::order::without_first>);
    const std::uint64_t by_score = result_with(workers, 1, visits<sack::order::by_score>);
    EXPECT_GT(std::max(with_first, without_first),
              std::min(with_first, without_first) + std::min(with_first, without_first) / 10)
        << "an instance on which the order does not matter";
    EXPECT_LE(10 * by_score, 11 * std::min(with_first, without_first)) << workers;
  }
}

// Virtual workers run policies, too.
TEST(virtual_workers, replay_a_policy) {
  const auto program = []() -> std::uint64_t {
    trace events;
    nopal::round_robin order;
    nopal::run(order, [&] {
      for (std::uint64_t name = 1; name <= 4; ++name)
        nopal::spawn([&events, name] { count_to(events, name << 20, 3); });
    });
    return events.hash;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(result_with(3, seed, program), result_with(3, seed, program)) << seed;
}

} // namespace
} // namespace nopal_test
