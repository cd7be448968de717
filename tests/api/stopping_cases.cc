// SPDX-License-Identifier: MIT
// What is skipped and what stops depends on what is cancelled, not on who looked last: whatever the
// owner of a region did since, and amid exceptions.
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/either.h"
#include "nopal/future.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "tests/api/alone.h"
#include "tests/api/endless.h"
#include "tests/api/numbered.h"
#include "tests/api/support.h"

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace nopal_test {
namespace {

// All that makes a strand look whether it is to stop, and takes a moment.
struct look {
  const char* name;
  std::function<void()> once;
};
std::vector<look> looks() {
  return {
      {"a poll", [] { nopal::poll(); }},
      {"a question", [] { static_cast<void>(nopal::is_cancelled()); }},
      {"a loop", [] { nopal::for_index(0, 1000, [](int) {}, 1); }},
      {"a fork of another scope",
       [] {
         nopal::scope s;
         for (int i = 0; i < 10; ++i)
           s.fork([] { nopal::poll(); });
         s.join();
       }},
      {"shielded code", [] { nopal::shielded([] { nopal::poll(); }); }},
      {"a computation",
       [] {
         nopal::run([] {
           nopal::spawn([] {});
           nopal::yield();
         });
       }},
      {"a mutex",
       [] {
         nopal::mutex free;
         const std::scoped_lock guard{free};
       }},
      {"another region",
       [] {
         nopal::cancel_scope s;
         s.fork([&s] {
           s.cancel();
           nopal::poll();
         });
         static_cast<void>(s.try_join());
       }},
  };
}

void fork_a_thousand(std::atomic<int>& ran) {
  for (int i = 0; i < 1000; ++i) {
    nopal::scope inner;
    inner.fork([&ran] { ran += 1; });
    inner.join();
  }
}

TEST(owner, finds_its_scope_cancelled_after_any_look) {
  for (const look& each : looks())
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> ran{0};
      nopal::cancel_scope s;
      s.fork([] {});
      s.cancel();
      each.once();
      s.fork([&ran] { ran += 1; });
      each.once();
      s.fork([&ran] { fork_a_thousand(ran); });
      EXPECT_FALSE(s.try_join()) << each.name;
      each.once();
      s.fork([&ran] { ran += 1; });
      EXPECT_FALSE(s.try_join()) << each.name;
      EXPECT_EQ(ran, 0) << each.name;
    }
}

TEST(owner, finds_that_in_a_strand_too) {
  for (const look& each : looks())
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> ran{0};
      bool complete = true;
      nopal::scope outer;
      outer.fork([&] {
        nopal::cancel_scope s;
        s.cancel();
        each.once();
        s.fork([&ran] { fork_a_thousand(ran); });
        complete = s.try_join();
      });
      outer.join();
      EXPECT_FALSE(complete) << each.name;
      EXPECT_EQ(ran, 0) << each.name;
    }
}

// Two regions of one function, of which one is cancelled; a plain scope in both.
TEST(owner, of_two_regions_skips_the_children_of_one) {
  for (const look& each : looks()) {
    std::atomic<int> cancelled_ran{0};
    std::atomic<int> ran{0};
    nopal::cancel_scope outer;
    nopal::cancel_scope inner;
    outer.cancel();
    each.once();
    inner.fork([&] {
      each.once();
      nopal::scope plain;
      plain.fork([&] { ran += 1; });
      plain.join();
    });
    EXPECT_TRUE(inner.try_join()) << each.name;
    each.once();
    outer.fork([&] { cancelled_ran += 1; });
    EXPECT_FALSE(outer.try_join()) << each.name;
    EXPECT_EQ(ran, 1) << each.name;
    EXPECT_EQ(cancelled_ran, 0) << each.name;
  }
}

TEST(owner, that_polls_until_the_deadline_forks_no_child_after_it) {
  nopal::cancel_scope s{std::chrono::milliseconds(1)};
  while (!s.cancelled()) {
    s.fork([] { nopal::poll(); });
    nopal::poll();
  }
  int ran = 0;
  for (int i = 0; i < 10; ++i) {
    nopal::poll();
    s.fork([&ran] { ran += 1; });
  }
  EXPECT_FALSE(s.try_join());
  EXPECT_EQ(ran, 0);
}

// The first alternative has an answer before the second one is forked.
TEST(owner, of_alternatives_begins_none_after_an_answer) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> begun{0};
    nopal::cancel_scope losers;
    EXPECT_EQ(nopal::either(losers, [] { return 1; }, [] { return 1; }), 1);
    losers.fork([&] { begun += 1; });
    EXPECT_FALSE(losers.try_join());
    EXPECT_EQ(begun, 0);
  }
}

// Calls f in a destructor that an exception runs, `deep` such destructors one in another.
template <class F> struct at_the_end {
  ~at_the_end() { f(); }
  F& f;
};
template <class F> void amid_an_exception(int deep, F f) {
  const std::function<void(int)> descend = [&](int more) {
    try {
      const auto inner = [&] { more == 1 ? f() : descend(more - 1); };
      const at_the_end<decltype(inner)> end{inner};
      throw numbered(more);
    } catch (const numbered& thrown) {
      EXPECT_EQ(thrown.number(), more);
    }
  };
  descend(deep);
}

TEST(amid_an_exception, the_first_answer_stops_the_other_alternatives) {
  for (int deep = 1; deep <= 3; ++deep)
    for (int round = 0; round < 30; ++round)
      amid_an_exception(deep, [] {
        EXPECT_EQ(nopal::either([]() -> int { poll_for_ever(); },
                                [] {
                                  nopal::poll();
                                  return 2;
                                },
                                [] {
                                  for (;;)
                                    nopal::for_index(0, 100, [](int) {}, 1);
                                  return 0;
                                }),
                  2);
      });
}

TEST(amid_an_exception, a_deadline_cancels) {
  for (int deep = 1; deep <= 2; ++deep)
    amid_an_exception(deep, [] {
      nopal::cancel_scope s{std::chrono::milliseconds(1)};
      s.fork([] { poll_for_ever(); });
      s.fork([] {
        nopal::channel<int> silent;
        silent.recv();
      });
      EXPECT_FALSE(s.try_join());
    });
}

TEST(amid_an_exception, a_scope_is_cancelled_with_all_below_it) {
  if (alone())
    GTEST_SKIP();
  for (int round = 0; round < 30; ++round)
    amid_an_exception(1 + round % 2, [] {
      gate running;
      std::atomic<int> ended{0};
      nopal::cancel_scope s;
      s.fork([&] {
        const counted_end end{ended};
        nopal::scope inner;
        inner.fork([&] { endless(running); });
        inner.join();
      });
      running.wait();
      s.cancel();
      s.fork([&] { ended += 100; });
      EXPECT_FALSE(s.try_join());
      EXPECT_EQ(ended, 1);
    });
}

TEST(amid_an_exception, waits_are_cancelled) {
  for (int round = 0; round < 30; ++round)
    amid_an_exception(1, [] {
      nopal::channel<int> silent;
      nopal::ivar<int> never;
      nopal::mutex held;
      held.lock();
      EXPECT_EQ(nopal::either([&] { return silent.recv(); }, [&] { return never.get(); },
                              [&] {
                                const std::scoped_lock guard{held};
                                return 1;
                              },
                              [] { return 4; }),
                4);
      held.unlock();
    });
}

TEST(amid_an_exception, what_fails_stops_what_comes_behind_it) {
  if (alone())
    GTEST_SKIP();
  for (int round = 0; round < 30; ++round)
    amid_an_exception(1 + round % 2, [] {
      gate running;
      EXPECT_THROW(nopal::invoke(
                       [&] {
                         running.wait();
                         throw numbered(7);
                       },
                       [&] { endless(running); }),
                   numbered);
    });
}

TEST(amid_an_exception, fibers_of_a_cancelable_stop) {
  for (int round = 0; round < 30; ++round)
    amid_an_exception(1, [] {
      std::atomic<int> ended{0};
      nopal::run([&] {
        nopal::cancelable search;
        std::atomic<bool> running{false};
        nopal::spawn(search, [&] {
          const counted_end end{ended};
          running = true;
          poll_for_ever();
        });
        wait_as_fiber(running);
        search.cancel();
      });
      EXPECT_EQ(ended, 1);
    });
}

// The destructor's own children run, and its joins do not throw, though its strand is cancelled;
// a region that it begins is cancelled all the same.
TEST(amid_an_exception, of_a_cancelled_strand_only_what_began_there_is_cancelled) {
  for (int round = 0; round < 50; ++round) {
    gate running;
    std::atomic<int> ran{0};
    const auto clean_up = [&] {
      EXPECT_FALSE(nopal::is_cancelled());
      nopal::scope s;
      s.fork([&] {
        nopal::poll();
        ran += 1;
      });
      s.join();
      nopal::cancel_scope own;
      own.fork([&] {
        EXPECT_FALSE(nopal::is_cancelled());
        own.cancel();
        EXPECT_TRUE(nopal::is_cancelled());
        poll_for_ever();
      });
      EXPECT_FALSE(own.try_join());
      EXPECT_FALSE(nopal::is_cancelled());
      nopal::for_index(0, 100, [&](int) { ran += 1; }, 1);
    };
    nopal::cancel_scope s;
    s.fork([&] {
      const at_the_end<decltype(clean_up)> end{clean_up};
      if (alone())
        s.cancel();
      endless(running);
    });
    if (!alone())
      running.wait();
    s.cancel();
    EXPECT_FALSE(s.try_join());
    EXPECT_EQ(ran, 101);
  }
}

TEST(amid_an_exception, a_region_that_is_left_as_usual_waits_for_its_children) {
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> ran{0};
    amid_an_exception(1, [&] {
      nopal::cancel_scope s;
      for (int i = 0; i < 8; ++i)
        s.fork([&] {
          nopal::poll();
          ran += 1;
        });
    });
    EXPECT_EQ(ran, 8);
  }
}

// It looked in vain in the destructor, and is to stop when the exception is caught.
TEST(amid_an_exception, a_look_in_vain_does_not_hide_the_state) {
  for (const bool forks : {false, true}) {
    bool stopped = false;
    nopal::cancel_scope s;
    s.fork([&] {
      const auto looks_around = [forks] {
        nopal::poll();
        EXPECT_FALSE(nopal::is_cancelled());
        if (!forks)
          return;
        nopal::scope inner;
        inner.fork([] { nopal::poll(); });
        inner.join();
      };
      try {
        const at_the_end<const decltype(looks_around)> end{looks_around};
        s.cancel();
        throw numbered(1);
      } catch (const numbered&) {
      }
      stopped = nopal::is_cancelled();
      nopal::poll();
    });
    EXPECT_FALSE(s.try_join());
    EXPECT_TRUE(stopped);
  }
}

} // namespace
} // namespace nopal_test
