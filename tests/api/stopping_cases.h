// SPDX-License-Identifier: MIT
// What is skipped and what stops depends on what is cancelled, not on who looked last: whatever the
// owner of a region did since, whatever a strand does in a loop, and amid exceptions.
#pragma once

#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/either.h"
#include "nopal/future.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/vprocs.h"
#include "tests/api/endless.h"
#include "tests/api/numbered.h"
#include "tests/api/support.h"

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace nopal_test {
namespace {

// A strand's continuation runs beside its child only where there is a second worker.
bool alone() { return nopal::vproc::options_in_force().num_workers.value == 1; }
void wait_as_fiber(const std::atomic<bool>& that) {
  while (!that)
    nopal::yield();
}

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

// Each is done for ever by a fiber, which is cancelled.
struct endless_loop {
  const char* name;
  std::function<void()> step;
};

TEST(loops, over_any_point_are_cancelled) {
  nopal::mutex free;
  nopal::mutex held;
  held.lock();
  nopal::ivar<int> set;
  set.set(1);
  nopal::ivar<int> unset;
  nopal::channel<int> silent;
  const std::vector<endless_loop> loops = {
      {"yield", [] { nopal::yield(); }},
      {"run", [] { nopal::run([] {}); }},
      {"select", [&] { nopal::select(nopal::recv(silent, [](int) {}), nopal::otherwise()); }},
      {"lock", [&] { const std::scoped_lock guard{free}; }},
      {"try_lock",
       [&] {
         if (held.try_lock())
           held.unlock();
       }},
      {"is_set", [&] { static_cast<void>(unset.is_set()); }},
      {"get", [&] { set.get(); }},
      {"touch", [] { nopal::future1<int>([] { return 1; }).touch(); }},
      {"migrate_to", [] { nopal::migrate_to(nopal::host()); }},
  };
  for (const endless_loop& each : loops) {
    std::atomic<int> ended{0};
    nopal::run([&] {
      nopal::cancelable all;
      std::atomic<int> begun{0};
      for (int i = 0; i < (alone() ? 1 : 2); ++i) // a spare thread runs the canceller then
        nopal::spawn(all, [&] {
          const counted_end end{ended};
          begun += 1;
          for (;;)
            each.step();
        });
      while (begun == 0)
        nopal::yield();
      all.cancel();
      EXPECT_EQ(ended, begun) << each.name;
    });
    EXPECT_GE(ended, 1) << each.name;
  }
  held.unlock();
  EXPECT_TRUE(free.try_lock()) << "a cancelled strand has kept the mutex";
  free.unlock();
}

TEST(cancel, of_two_that_cancel_each_other_returns) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> ended{0};
    nopal::run([&] {
      nopal::cancelable a;
      nopal::cancelable b;
      const auto cancels = [&ended](nopal::cancelable& other) {
        return [&ended, &other] {
          const counted_end end{ended};
          nopal::yield();
          other.cancel();
        };
      };
      nopal::spawn(a, cancels(b));
      nopal::spawn(b, cancels(a));
      nopal::yield();
      a.cancel();
      b.cancel();
    });
    EXPECT_LE(ended, 2);
  }
}

TEST(cancel, in_a_ring_returns) {
  for (int round = 0; round < 100; ++round) {
    nopal::cancelable ring[3];
    nopal::run([&] {
      for (int i = 0; i < 3; ++i)
        nopal::spawn(ring[i], [&ring, i] {
          nopal::yield();
          ring[(i + 1) % 3].cancel();
        });
    });
  }
}

// What it waits for lives in its frame, and ends before that.
TEST(cancel, that_is_cancelled_leaves_no_fiber_behind) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    nopal::run([&] {
      nopal::cancelable outer;
      std::atomic<bool> waits{false};
      nopal::spawn(outer, [&] {
        nopal::cancelable inner{outer};
        nopal::spawn(inner, [&] {
          const counted_end end{ended};
          begun += 1;
          nopal::shielded([&] {
            waits = true;
            while (!outer.cancelled())
              nopal::yield();
          });
          poll_for_ever();
        });
        wait_as_fiber(waits);
        inner.cancel();
      });
      wait_as_fiber(waits);
      outer.cancel();
      EXPECT_EQ(begun, ended);
    });
  }
}

TEST(touch, of_a_future_whose_fiber_was_cancelled_says_so) {
  for (int round = 0; round < 20; ++round)
    nopal::run([] {
      nopal::cancelable computing;
      std::optional<nopal::future1<int>> later;
      std::atomic<bool> begun{false};
      nopal::spawn(computing, [&] {
        later.emplace([&begun]() -> int {
          begun = true;
          poll_for_ever();
        });
      });
      wait_as_fiber(begun);
      computing.cancel();
      EXPECT_FALSE(nopal::is_cancelled());
      EXPECT_THROW(later->touch(), nopal::broken_future);
    });
}

TEST(touch, throws_what_the_function_throws_also_if_that_is_cancelled) {
  nopal::run([] {
    nopal::future1<int> later{[]() -> int { throw nopal::cancelled{}; }};
    EXPECT_THROW(later.touch(), nopal::cancelled);
  });
}

TEST(touch, by_a_cancelled_strand_throws_cancelled) {
  for (int round = 0; round < 100; ++round)
    nopal::run([] {
      std::atomic<bool> thrown{false};
      nopal::future1<int> later{[] { return 1; }};
      nopal::cancel_scope s;
      s.fork([&] {
        try {
          s.cancel();
          later.touch();
        } catch (const nopal::cancelled&) {
          thrown = true;
          throw;
        }
      });
      EXPECT_FALSE(s.try_join());
      EXPECT_TRUE(thrown);
    });
}

} // namespace
} // namespace nopal_test
