// SPDX-License-Identifier: MIT
// Actions and schedulers of the program's own: the rules of docs/scheduling.md, nesting, misuse.
#pragma once

#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/scheduler.h"
#include "tests/api/support.h"

#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace nopal_test {

// Runs fibers one after the other on one vproc, and notes what it is told.
class one_by_one : public nopal::action {
public:
  std::string told;
  std::deque<nopal::fiber> ready;

private:
  nopal::decision receive(nopal::signal now) override {
    told += now.is_stop() ? 's' : 'p';
    if (!now.is_stop())
      ready.push_back(std::move(now.preempted));
    if (ready.empty())
      return forward(nopal::signal::stop());
    nopal::fiber next = std::move(ready.front());
    ready.pop_front();
    return run(std::move(next));
  }
};

// The first `stop` begins the action, each fiber's end is told by another one.
TEST(action, is_told_when_a_fiber_ends) {
  one_by_one order;
  std::vector<int> ran;
  nopal::run([&] {
    for (int i = 0; i < 3; ++i)
      order.ready.push_back(nopal::make_fiber([&, i] { ran.push_back(i); }));
    order.starter().start();
  });
  EXPECT_EQ(ran, (std::vector{0, 1, 2}));
  EXPECT_EQ(order.told, "ssss");
}

TEST(action, is_told_when_a_fiber_gives_way) {
  one_by_one order;
  std::string ran;
  nopal::run([&] {
    for (const char name : {'a', 'b'})
      order.ready.push_back(nopal::make_fiber([&, name] {
        ran += name;
        nopal::yield();
        ran += name;
      }));
    order.starter().start();
  });
  EXPECT_EQ(ran, "abab");
  EXPECT_EQ(order.told, "sppss");
}

// A fiber that waits is nobody's until it is ready; its action is told that it stopped.
TEST(action, is_told_when_a_fiber_waits) {
  one_by_one order;
  nopal::channel<int> values;
  int received = 0;
  nopal::run([&] {
    order.ready.push_back(nopal::make_fiber([&] { received = values.recv(); }));
    order.ready.push_back(nopal::make_fiber([&] { values.send(6); }));
    order.starter().start();
  });
  EXPECT_EQ(received, 6);
  EXPECT_EQ(order.told.substr(0, 2), "ss");
}

// Answers each signal by forwarding it.
class transparent : public nopal::action {
public:
  explicit transparent(nopal::fiber only) : inner_(std::move(only)) {}
  std::string told;

private:
  nopal::decision receive(nopal::signal now) override {
    told += now.is_stop() ? 's' : 'p';
    if (inner_)
      return run(std::move(inner_));
    if (now.is_stop())
      return forward(nopal::signal::stop());
    return forward(std::move(now));
  }
  nopal::fiber inner_;
};

// A signal goes to the action that was pushed last, and by `forward` to the one below.
TEST(action, forward_tells_the_action_below) {
  one_by_one outer;
  std::unique_ptr<transparent> inner;
  std::string ran;
  nopal::run([&] {
    inner = std::make_unique<transparent>(nopal::make_fiber([&] {
      ran += 'x';
      nopal::yield();
      ran += 'y';
    }));
    outer.ready.push_back(inner->starter());
    outer.ready.push_back(nopal::make_fiber([&] { ran += 'z'; }));
    outer.starter().start();
  });
  EXPECT_EQ(ran, "xzy");
  EXPECT_EQ(inner->told, "sp");
  EXPECT_EQ(outer.told, "spss");
}

// Gives its vproc away each time before it runs a fiber.
class polite : public nopal::action {
public:
  std::deque<nopal::fiber> ready;
  int turns = 0;

private:
  nopal::decision receive(nopal::signal) override {
    if (++turns % 2 == 1)
      return yield();
    if (ready.empty())
      return forward(nopal::signal::stop());
    nopal::fiber next = std::move(ready.front());
    ready.pop_front();
    return run(std::move(next));
  }
};

TEST(action, yields_to_the_action_below) {
  one_by_one outer;
  polite inner;
  std::string ran;
  nopal::run([&] {
    for (const char name : {'a', 'b'})
      inner.ready.push_back(nopal::make_fiber([&, name] { ran += name; }));
    outer.ready.push_back(inner.starter());
    for (const char name : {'1', '2'})
      outer.ready.push_back(nopal::make_fiber([&, name] { ran += name; }));
    outer.starter().start();
  });
  EXPECT_EQ(ran, "12ab");
  EXPECT_EQ(inner.turns, 6);
}

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
    const int of = priority.of(ready);
    ready_.emplace(of, std::move(ready));
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
    for (const int of : {3, 1, 4, 1, 5, 9, 2, 6}) {
      nopal::fiber one = nopal::make_fiber([&, of] {
        EXPECT_EQ(priority.here(), of);
        ran.push_back(of);
      });
      priority.of(one) = of;
      std::move(one).start();
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
    name.here() = "body";
    for (int i = 0; i < 20; ++i)
      nopal::spawn([&, i] {
        wrong += name.here() != "none";
        name.here() = std::to_string(i);
        nopal::yield();
        nopal::for_index(0, 4, [&](int) { wrong += name.here() != std::to_string(i); }, 1);
      });
    nopal::yield();
    wrong += name.here() != "body";
  });
  EXPECT_EQ(wrong.load(), 0);
}

using scheduler_death = death;

TEST_F(scheduler_death, a_fiber_is_entered_once) {
  EXPECT_DEATH(nopal::run([] {
                 nopal::fiber one = nopal::make_fiber([] {});
                 std::move(one).start();
                 std::move(one).start();
               }),
               "a fiber was entered twice");
}

TEST_F(scheduler_death, a_fiber_is_not_forgotten) {
  EXPECT_DEATH(nopal::run([] { nopal::make_fiber([] {}); }), "a nopal::fiber was destroyed");
}

class wrong_action : public nopal::action {
public:
  enum way { forks, throws } does;
  explicit wrong_action(way does_it) : does(does_it) {}

private:
  nopal::decision receive(nopal::signal) override {
    if (does == throws)
      throw 1;
    fib(5);
    return forward(nopal::signal::stop());
  }
};

void begin(wrong_action::way does) {
  wrong_action wrong{does};
  nopal::run([&] { wrong.starter().start(); });
}

TEST_F(scheduler_death, an_action_does_not_fork) {
  EXPECT_DEATH(begin(wrong_action::forks), "or a scheduler action forks");
}

TEST_F(scheduler_death, an_action_does_not_throw) {
  EXPECT_DEATH(begin(wrong_action::throws), "a scheduler action was left by an exception");
}

TEST_F(scheduler_death, an_action_is_started_once) {
  one_by_one order;
  EXPECT_DEATH(nopal::run([&] {
                 nopal::fiber first = order.starter();
                 nopal::fiber second = order.starter();
               }),
               "a scheduler action was to be started while");
}

// Decides when nobody has asked it.
class hasty : public nopal::action {
public:
  void decide(nopal::fiber next) { (void)run(std::move(next)); }

private:
  nopal::decision receive(nopal::signal) override { return forward(nopal::signal::stop()); }
};

TEST_F(scheduler_death, an_action_decides_when_it_is_asked) {
  hasty action;
  EXPECT_DEATH(nopal::run([&] { action.decide(nopal::make_fiber([] {})); }),
               "a scheduler action was to run a fiber or to yield while nobody asked it");
}

TEST_F(scheduler_death, an_action_belongs_into_a_computation) {
  one_by_one order;
  EXPECT_DEATH(order.starter(), "a scheduler action was started outside nopal::run");
}

TEST_F(scheduler_death, a_scheduler_has_one_computation) {
  first_in_first_out order;
  EXPECT_DEATH(nopal::run(order, [&] { nopal::run(order, [] {}); }),
               "a nopal::scheduler was given to a second nopal::run");
}

TEST_F(scheduler_death, fiber_locals_belong_to_fibers) {
  EXPECT_DEATH(priority.here(), "a nopal::fiber_local was asked for its value outside nopal::run");
}

} // namespace nopal_test
