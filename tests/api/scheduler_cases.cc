// SPDX-License-Identifier: MIT
// Schedulers of the program's own, fibers' own values, and misuse (docs/scheduling.md).
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/scheduler.h"
#include "tests/api/support.h"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {

class first_in_first_out : public nopal::scheduler {
public:
  using scheduler::scheduler;
  std::atomic<int> puts{0};

private:
  void put(nopal::fiber ready) override {
    ++puts;
    ready_.push_back(std::move(ready));
  }
  nopal::fiber take() override {
    if (ready_.empty())
      return {};
    nopal::fiber next = std::move(ready_.front());
    ready_.pop_front();
    return next;
  }
  std::deque<nopal::fiber> ready_;
};

TEST(scheduler, runs_all_fibers_of_its_computation) {
  first_in_first_out order;
  std::atomic<int> ended{0};
  const int result = nopal::run(order, [&] {
    for (int i = 0; i < 50; ++i)
      nopal::spawn([&] {
        nopal::yield();
        fib(repetitions(10, 4));
        ended += 1;
      });
    return 8;
  });
  EXPECT_EQ(result, 8);
  EXPECT_EQ(ended.load(), 50);
  EXPECT_GE(order.puts.load(), 51);
}

TEST(scheduler, serves_one_computation_after_the_other) {
  first_in_first_out order;
  int ended = 0;
  for (int i = 0; i < 100; ++i)
    nopal::run(order, [&] { nopal::spawn([&] { ended += 1; }); });
  EXPECT_EQ(ended, 100);
}

// What waited comes back to its scheduler.
TEST(scheduler, is_given_what_may_go_on) {
  first_in_first_out order;
  nopal::channel<int> values;
  long sum = 0;
  nopal::run(order, [&] {
    nopal::spawn([&] {
      for (int i = 0; i < 100; ++i)
        values.send(i);
    });
    for (int i = 0; i < 100; ++i)
      sum += values.recv();
  });
  EXPECT_EQ(sum, 4950);
  EXPECT_GE(order.puts.load(), 102);
}

// No more fibers run at a time than the scheduler may have vprocs.
TEST(scheduler, has_at_most_so_many_vprocs) {
  first_in_first_out order{1};
  int inside = 0;
  int overlaps = 0;
  nopal::run(order, [&] {
    for (int i = 0; i < 20; ++i)
      nopal::spawn([&] {
        overlaps += inside++ != 0;
        std::this_thread::yield();
        --inside;
      });
  });
  EXPECT_EQ(overlaps, 0);
}

nopal::fiber_local<int> priority{0};

class by_priority : public nopal::scheduler {
public:
  by_priority() : scheduler{1} {}

private:
  void put(nopal::fiber ready) override {
    const int level = priority.value_of(ready);
    ready_.emplace(level, std::move(ready));
  }
  nopal::fiber take() override {
    if (ready_.empty())
      return {};
    const auto highest = std::prev(ready_.end());
    nopal::fiber next = std::move(highest->second);
    ready_.erase(highest);
    return next;
  }
  std::multimap<int, nopal::fiber> ready_;
};

TEST(scheduler, may_choose_by_a_fibers_own_value) {
  by_priority order;
  std::vector<int> ran;
  nopal::run(order, [&] {
    for (const int level : {3, 1, 4, 1, 5, 9, 2, 6}) {
      nopal::fiber ready = nopal::make_fiber([&, level] {
        EXPECT_EQ(priority.value(), level);
        ran.push_back(level);
      });
      priority.value_of(ready) = level;
      std::move(ready).start();
    }
  });
  EXPECT_EQ(ran, (std::vector{9, 6, 5, 4, 3, 2, 1, 1}));
}

TEST(scheduler, schedulers_nest) {
  first_in_first_out outer;
  std::atomic<int> ended{0};
  nopal::run(outer, [&] {
    for (int i = 0; i < 4; ++i)
      nopal::spawn([&] {
        first_in_first_out inner;
        nopal::run(inner, [&] {
          for (int j = 0; j < 10; ++j)
            nopal::spawn([&] {
              nopal::yield();
              fib(repetitions(8, 3));
              ended += 1;
            });
        });
        ended += 100;
      });
  });
  EXPECT_EQ(ended.load(), 440);
}

// Neither starves the other on one vproc, though both give way only.
TEST(scheduler, two_computations_take_turns) {
  first_in_first_out outer{1};
  std::atomic<int> turns[2] = {};
  nopal::run(outer, [&] {
    for (std::atomic<int>& mine : turns)
      nopal::spawn([&] {
        by_priority inner;
        nopal::run(inner, [&] {
          while (turns[0] < 50 || turns[1] < 50) {
            mine += 1;
            nopal::yield();
          }
        });
      });
  });
  EXPECT_GE(turns[0].load(), 50);
  EXPECT_GE(turns[1].load(), 50);
  EXPECT_LE(std::abs(turns[0] - turns[1]), 2);
}

TEST(scheduler, exceptions_pass) {
  first_in_first_out order;
  EXPECT_THROW(nopal::run(order, [] { nopal::spawn([] { throw std::runtime_error("fiber"); }); }),
               std::runtime_error);
  EXPECT_EQ(nopal::run(order, [] { return 2; }), 2);
}

TEST(fiber_local, each_fiber_has_its_own) {
  nopal::fiber_local<std::string> name{"none"};
  std::atomic<int> wrong{0};
  nopal::run([&] {
    name.value() = "body";
    for (int i = 0; i < 20; ++i)
      nopal::spawn([&, i] {
        wrong += name.value() != "none";
        name.value() = std::to_string(i);
        nopal::yield();
        nopal::for_index(0, 4, [&](int) { wrong += name.value() != std::to_string(i); }, 1);
      });
    nopal::yield();
    wrong += name.value() != "body";
  });
  EXPECT_EQ(wrong.load(), 0);
}

using scheduler_death = death;

TEST_F(scheduler_death, a_fiber_is_entered_once) {
  EXPECT_DEATH(nopal::run([] {
                 nopal::fiber ready = nopal::make_fiber([] {});
                 std::move(ready).start();
                 std::move(ready).start();
               }),
               "a fiber was entered twice");
}

TEST_F(scheduler_death, a_fiber_is_not_forgotten) {
  EXPECT_DEATH(nopal::run([] { static_cast<void>(nopal::make_fiber([] {})); }),
               "a nopal::fiber was destroyed");
}

// A strand that spawns calls `put`; the other case is that of the scheduler.
class forks_in_put : public nopal::scheduler {
  void put(nopal::fiber ready) override {
    kept_ = std::move(ready);
    if (++puts_ == 2)
      fib(5);
  }
  nopal::fiber take() override { return std::move(kept_); }
  nopal::fiber kept_;
  int puts_ = 0;
};

TEST_F(scheduler_death, a_scheduler_does_not_fork) {
  forks_in_put order;
  EXPECT_DEATH(nopal::run(order, [] { nopal::spawn([] {}); }), "or a scheduler action forks");
}

class throws_in_put : public nopal::scheduler {
  void put(nopal::fiber ready) override {
    kept_ = std::move(ready);
    throw std::runtime_error("spines");
  }
  nopal::fiber take() override { return std::move(kept_); }
  nopal::fiber kept_;
};

TEST_F(scheduler_death, put_does_not_throw) {
  throws_in_put order;
  EXPECT_DEATH(nopal::run(order, [] {}),
               "the `put` of a nopal::scheduler was left by an exception");
}

TEST_F(scheduler_death, a_scheduler_has_one_computation) {
  first_in_first_out order;
  EXPECT_DEATH(nopal::run(order, [&] { nopal::run(order, [] {}); }),
               "a nopal::scheduler was given to a second nopal::run");
}

TEST_F(scheduler_death, fiber_locals_belong_to_fibers) {
  EXPECT_DEATH(priority.value(), "a nopal::fiber_local was asked for its value outside nopal::run");
}

} // namespace nopal_test
