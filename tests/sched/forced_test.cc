// SPDX-License-Identifier: MIT
// Where steals are forced, a fork waits for a vproc that can take what was published. If it waited
// for another one, it would wait in vain for its longest time, at each fork.
#include "nopal/arena.h"
#include "nopal/blocking.h"
#include "nopal/future.h"
#include "nopal/sched/idle.h"
#include "nopal/sched/steal.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/table.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <thread>

namespace nopal_test {
namespace {

bool thief_may_come() { return nopal::sched::thief_may_come(nopal::vproc::current()); }

// Returns when the answer is the expected one.
void wait_until_thief_may_come(bool expected) {
  while (thief_may_come() != expected)
    std::this_thread::yield();
}

bool anybody_searches() {
  return nopal::vproc::any_other_vproc(nopal::vproc::current()->host,
                                       [](const auto* other) { return other->searches.get(); });
}

template <class F> void in_a_strand(F f) {
  nopal::scope s;
  s.fork([&f] { f(); });
  s.join();
}

// Calls f in a process of its own with these options and forced steals, and returns what f returns.
template <class F> std::optional<std::uint64_t> forced(nopal::config::options use, F f) {
  return apart([use, f] {
    nopal::configure(use);
    nopal::vproc::force_steals(5);
    return f();
  });
}

constexpr std::uint64_t kDone = 7;

TEST(forced, a_pool_thread_may_come_as_soon_as_it_is_started) {
  EXPECT_EQ(forced({.num_workers = 2},
                   [] {
                     in_a_strand([] { wait_until_thief_may_come(true); });
                     return kDone;
                   }),
            kDone);
}

TEST(forced, the_thread_that_waits_for_this_group_may_come) {
  EXPECT_EQ(forced({.num_workers = 2},
                   [] {
                     gate stolen;
                     nopal::scope s;
                     s.fork([&stolen] { stolen.wait(); });
                     stolen.open();
                     wait_until_thief_may_come(true); // on the only pool thread
                     s.join();
                     return kDone;
                   }),
            kDone);
}

// The loop waits, since the timer may call a spare where a loaded machine keeps a vproc from its
// signals.
TEST(forced, a_spare_that_rests_does_not_come) {
  EXPECT_EQ(forced({.num_workers = 1},
                   [] {
                     in_a_strand([] {
                       nopal::blocking([] {});
                       wait_until_thief_may_come(false);
                     });
                     return kDone;
                   }),
            kDone);
}

// The thread that forks already has the only stack when the thief's thread begins.
TEST(forced, a_thief_without_a_stack_does_not_come) {
  EXPECT_EQ(apart([] {
              gate forked;
              bool before = false;
              nopal::configure({.num_workers = 2, .max_stacks = 1, .on_worker_start = [&forked] {
                                  forked.wait();
                                }});
              nopal::vproc::force_steals(5);
              in_a_strand([&] {
                before = thief_may_come();
                forked.open();
                wait_until_thief_may_come(false);
              });
              return before;
            }),
            1u);
}

TEST(forced, a_thread_that_runs_no_strand_does_not_come) {
  EXPECT_EQ(forced({.num_workers = 1},
                   [] {
                     in_a_strand([] {});
                     bool may_come = true;
                     std::thread([&may_come] {
                       in_a_strand([&may_come] { may_come = thief_may_come(); });
                     }).join();
                     return may_come;
                   }),
            0u);
}

TEST(forced, a_thread_that_waits_for_another_group_does_not_come) {
  EXPECT_EQ(forced({.num_workers = 1},
                   [] {
                     bool may_come = true;
                     nopal::ivar<int> asked;
                     std::thread other([&asked] { in_a_strand([&asked] { asked.get(); }); });
                     in_a_strand([&] {
                       while (!anybody_searches())
                         std::this_thread::yield();
                       may_come = thief_may_come();
                       asked.set(1);
                     });
                     other.join();
                     return may_come;
                   }),
            0u);
}

TEST(forced, a_pool_thread_comes_into_an_arena_that_has_a_place) {
  EXPECT_EQ(forced({.num_workers = 2},
                   [] {
                     nopal::arena full{1};
                     const bool may_come = full.run([] { return thief_may_come(); });
                     nopal::arena{2}.run([] { wait_until_thief_may_come(true); });
                     return may_come;
                   }),
            0u);
}

} // namespace
} // namespace nopal_test
