// SPDX-License-Identifier: MIT
// Stop tokens: those that cancel a scope, and those that a scope gives away.
#include "nopal/cancel.h"
#include "nopal/cancelable.h"
#include "tests/api/endless.h"
#include "tests/api/support.h"

#include <chrono>
#include <stop_token>
#include <thread>

namespace nopal_test {
namespace {

// ctest runs this test in a process of its own, whose first use of Nopal this is.
TEST(stop_token, that_was_requested_before_skips_all_forks) {
  std::stop_source source;
  source.request_stop();
  nopal::cancel_scope s{source.get_token()};
  int x = 7;
  s.fork(x, [] { return 8; });
  EXPECT_EQ(x, 7);
  EXPECT_FALSE(s.try_join());
  EXPECT_EQ(x, 7);
}

TEST(stop_token, that_is_requested_cancels_a_scope) {
  std::stop_source source;
  gate running;
  nopal::cancel_scope s{source.get_token()};
  s.fork([&] { endless(running); });
  running.wait();
  EXPECT_FALSE(s.cancelled());
  source.request_stop();
  EXPECT_TRUE(s.cancelled());
  EXPECT_FALSE(s.try_join());
  nopal::cancel_scope after{source.get_token()};
  EXPECT_TRUE(after.cancelled());
}

TEST(stop_token, of_a_scope_tells_that_it_is_cancelled) {
  nopal::cancel_scope s;
  const std::stop_token token = s.token();
  EXPECT_FALSE(token.stop_requested());
  s.cancel();
  EXPECT_TRUE(token.stop_requested());
}

TEST(stop_token, tells_of_the_scope_around) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    nopal::cancel_scope outer;
    outer.fork([&] {
      nopal::cancel_scope inner;
      const std::stop_token token = inner.token();
      running.open();
      while (!token.stop_requested())
        std::this_thread::yield();
    });
    running.wait();
    outer.cancel();
    static_cast<void>(outer.try_join());
  }
}

TEST(stop_token, tells_of_a_scope_two_levels_up) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    nopal::cancel_scope outer;
    outer.fork([&] {
      nopal::cancel_scope between;
      between.fork([&] {
        nopal::cancel_scope inner;
        const std::stop_token token = inner.token();
        running.open();
        while (!token.stop_requested())
          std::this_thread::yield();
      });
    });
    running.wait();
    outer.cancel();
    static_cast<void>(outer.try_join());
  }
}

TEST(stop_token, tells_of_the_cancelable_around) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    std::atomic<bool> running{false};
    nopal::cancelable above;
    nopal::cancelable all{above};
    nopal::run([&] {
      nopal::spawn(all, [&] {
        nopal::cancel_scope inner;
        const std::stop_token token = inner.token();
        running = true;
        while (!token.stop_requested())
          std::this_thread::yield();
      });
      while (!running)
        nopal::yield();
      above.cancel();
    });
  }
}

TEST(stop_token, of_a_cancelable) {
  nopal::cancelable above;
  nopal::cancelable below{above};
  const std::stop_token token = below.token();
  EXPECT_EQ(token, below.token());
  int called = 0;
  const std::stop_callback counts{token, [&] { ++called; }};
  EXPECT_FALSE(token.stop_requested());
  above.cancel();
  EXPECT_TRUE(token.stop_requested());
  EXPECT_EQ(called, 1);
  EXPECT_TRUE(above.token().stop_requested()); // asked for afterwards
  nopal::cancelable other;
  EXPECT_FALSE(other.token().stop_requested());
}

TEST(stop_token, is_given_while_children_run) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    nopal::cancel_scope s;
    s.fork([&] { endless(running); });
    running.wait();
    const std::stop_token token = s.token();
    EXPECT_FALSE(token.stop_requested());
    s.cancel();
    EXPECT_TRUE(token.stop_requested());
    EXPECT_FALSE(s.try_join());
  }
}

TEST(stop_token, does_not_tell_of_what_is_outside_a_shield) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    gate cancelled;
    bool requested = true;
    nopal::cancel_scope outer;
    outer.fork([&] {
      nopal::shielded([&] {
        nopal::cancel_scope inner;
        const std::stop_token token = inner.token();
        running.open();
        cancelled.wait();
        requested = token.stop_requested();
      });
    });
    running.wait();
    outer.cancel();
    cancelled.open();
    static_cast<void>(outer.try_join());
    EXPECT_FALSE(requested);
  }
}

// The callback waits for what comes after another scope's deadline. False: the deadline came before
// there was a callback, which this thread then called itself.
bool delays_no_other_deadline(std::chrono::milliseconds time) {
  gate called;
  gate other_was_cancelled;
  bool too_late = false;
  nopal::cancel_scope early{time};
  const std::stop_callback waits{early.token(), [&, self = std::this_thread::get_id()] {
                                   too_late = std::this_thread::get_id() == self;
                                   called.open();
                                   if (!too_late)
                                     other_was_cancelled.wait();
                                 }};
  called.wait();
  if (too_late)
    return false;
  gate running;
  nopal::cancel_scope late{std::chrono::milliseconds{1}};
  late.fork([&] { endless(running); });
  EXPECT_FALSE(late.try_join());
  other_was_cancelled.open();
  return true;
}

TEST(stop_token, whose_callback_waits_delays_no_other_deadline) {
  std::chrono::milliseconds time{1};
  while (!delays_no_other_deadline(time))
    time *= 2;
}

} // namespace
} // namespace nopal_test
