// SPDX-License-Identifier: MIT
// Stop tokens: those that cancel a scope, and those that a scope gives away.
#pragma once

#include "nopal/cancel.h"
#include "tests/api/endless.h"
#include "tests/api/support.h"

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
    bool told = true;
    nopal::cancel_scope outer;
    outer.fork([&] {
      nopal::shielded([&] {
        nopal::cancel_scope inner;
        const std::stop_token token = inner.token();
        running.open();
        cancelled.wait();
        told = token.stop_requested();
      });
    });
    running.wait();
    outer.cancel();
    cancelled.open();
    static_cast<void>(outer.try_join());
    EXPECT_FALSE(told);
  }
}

} // namespace
} // namespace nopal_test
