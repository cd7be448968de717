// SPDX-License-Identifier: MIT
// Actions of the program's own: what they are told, and what follows from their answers
// (docs/scheduling.md).
#include "nopal/channel.h"
#include "nopal/scheduler.h"
#include "tests/api/support.h"

#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace nopal_test {

// Runs fibers one after the other on one vproc, and notes what it is told.
class one_by_one : public nopal::action {
public:
  std::string signals;
  std::deque<nopal::fiber> ready;

private:
  nopal::decision receive(nopal::action_signal now) override {
    signals += now.is_stop() ? 's' : 'p';
    if (!now.is_stop())
      ready.push_back(std::move(now.preempted));
    if (ready.empty())
      return forward(nopal::action_signal::stop());
    nopal::fiber next = std::move(ready.front());
    ready.pop_front();
    return run(std::move(next));
  }
};

// The first `stop` begins the action; the end of each fiber gives it another one.
TEST(action, is_told_when_a_fiber_ends) {
  one_by_one order;
  std::vector<int> ran;
  nopal::run([&] {
    for (int i = 0; i < 3; ++i)
      order.ready.push_back(nopal::make_fiber([&, i] { ran.push_back(i); }));
    order.starter().start();
  });
  EXPECT_EQ(ran, (std::vector{0, 1, 2}));
  EXPECT_EQ(order.signals, "ssss");
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
  EXPECT_EQ(order.signals, "sppss");
}

// A fiber that waits stands in no action's queue until it is ready; its action gets `stop`.
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
  EXPECT_EQ(order.signals.substr(0, 2), "ss");
}

// A fiber that calls `run` gives no signal: its vproc enters that function under the same action.
TEST(action, is_not_told_of_a_run_within) {
  one_by_one order;
  std::string ran;
  std::string signals_before;
  nopal::run([&] {
    order.ready.push_back(nopal::make_fiber([&] {
      ran += 'a';
      nopal::run([&] {
        signals_before = order.signals;
        nopal::yield();
        ran += 'b';
      });
      ran += 'c';
    }));
    order.ready.push_back(nopal::make_fiber([&] { ran += 'x'; }));
    order.starter().start();
  });
  EXPECT_EQ(ran, "axbc");
  EXPECT_EQ(signals_before, "s");
  EXPECT_EQ(order.signals, "spss");
}

// Runs its only fiber first, and forwards each signal that comes later.
class transparent : public nopal::action {
public:
  explicit transparent(nopal::fiber only) : inner_(std::move(only)) {}
  std::string signals;

private:
  nopal::decision receive(nopal::action_signal now) override {
    signals += now.is_stop() ? 's' : 'p';
    if (inner_)
      return run(std::move(inner_));
    if (now.is_stop())
      return forward(nopal::action_signal::stop());
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
  EXPECT_EQ(inner->signals, "sp");
  EXPECT_EQ(outer.signals, "spss");
}

// Gives its vproc away each time before it runs a fiber.
class polite : public nopal::action {
public:
  std::deque<nopal::fiber> ready;
  int turns = 0;

private:
  nopal::decision receive(nopal::action_signal) override {
    if (++turns % 2 == 1)
      return yield();
    if (ready.empty())
      return forward(nopal::action_signal::stop());
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

// The fiber that starts an action may end before the action does.
TEST(action, outlives_the_fiber_that_started_it) {
  polite inner;
  int ran = 0;
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < 3; ++i)
        inner.ready.push_back(nopal::make_fiber([&] { ++ran; }));
      inner.starter().start();
    });
    for (int i = 0; i < 20; ++i)
      nopal::spawn([] { nopal::yield(); });
  });
  EXPECT_EQ(ran, 3);
}

using action_death = death;

// The actions outside an affine region get no signal of fibers that wait or end inside. One worker
// without ticks does not sleep there, and gets no stand-in: the actions would yield (R29).
[[noreturn]] void set_aside_in_an_affine_region() {
  nopal::configure({.num_workers = 1, .tick = 0});
  one_by_one order;
  nopal::channel<int> values;
  std::string signals_within;
  int received = 0;
  nopal::run([&] {
    order.ready.push_back(nopal::make_fiber([&] {
      nopal::affine([&] {
        nopal::run([&] {
          nopal::spawn([&] { values.send(3); });
          received = values.recv();
        });
      });
      signals_within = order.signals;
    }));
    order.starter().start();
  });
  std::_Exit(received == 3 && signals_within == "s" && order.signals == "ss" ? 7 : 1);
}
// In a process that has no pool yet.
TEST_F(action_death, is_set_aside_in_an_affine_region) {
  EXPECT_EXIT(set_aside_in_an_affine_region(), testing::ExitedWithCode(7), "^$");
}

class wrong_action : public nopal::action {
public:
  enum way { forks, throws, decides_twice } does;
  explicit wrong_action(way does_it) : does(does_it) {}
  std::deque<nopal::fiber> ready;

private:
  nopal::decision receive(nopal::action_signal) override {
    if (does == throws)
      throw 1;
    if (does == decides_twice) {
      (void)run(std::move(ready.front()));
      return run(std::move(ready.back()));
    }
    fib(5);
    return forward(nopal::action_signal::stop());
  }
};

void begin(wrong_action::way does) {
  wrong_action wrong{does};
  nopal::run([&] {
    wrong.ready.push_back(nopal::make_fiber([] {}));
    wrong.ready.push_back(nopal::make_fiber([] {}));
    wrong.starter().start();
  });
}

TEST_F(action_death, an_action_does_not_fork) {
  EXPECT_DEATH(begin(wrong_action::forks), "or a scheduler action forks");
}

TEST_F(action_death, an_action_does_not_throw) {
  EXPECT_DEATH(begin(wrong_action::throws), "a scheduler action was left by an exception");
}

TEST_F(action_death, an_action_decides_once) {
  EXPECT_DEATH(begin(wrong_action::decides_twice), "a scheduler action was run while it waited");
}

TEST_F(action_death, an_action_is_started_once) {
  one_by_one order;
  EXPECT_DEATH(nopal::run([&] {
                 nopal::fiber first = order.starter();
                 nopal::fiber second = order.starter();
               }),
               "a scheduler action was to be started while");
}

// Decides although no signal has asked it to.
class hasty : public nopal::action {
public:
  void decide(nopal::fiber next) { (void)run(std::move(next)); }

private:
  nopal::decision receive(nopal::action_signal) override {
    return forward(nopal::action_signal::stop());
  }
};

TEST_F(action_death, an_action_decides_when_it_is_asked) {
  hasty action;
  EXPECT_DEATH(nopal::run([&] { action.decide(nopal::make_fiber([] {})); }),
               "a scheduler action was to run a fiber or to yield while nobody asked it");
}

TEST_F(action_death, an_action_belongs_into_a_computation) {
  one_by_one order;
  EXPECT_DEATH(static_cast<void>(order.starter()),
               "a scheduler action was started outside nopal::run");
}

} // namespace nopal_test
