// SPDX-License-Identifier: MIT
// Stop tokens: those that cancel a scope, and those that a scope gives away.
#include "nopal/cancel.h"
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "tests/api/endless.h"
#include "tests/api/support.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

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

// A token and a callback of it, for what was cancelled.
class told {
public:
  explicit told(std::stop_token token) : token_{std::move(token)} {}
  // Whether a stop is requested, and the callback was called.
  [[nodiscard]] bool wholly() const { return token_.stop_requested() && called_ == 1; }

private:
  struct count {
    std::atomic<int>& called;
    void operator()() const { ++called; }
  };
  const std::stop_token token_;
  std::atomic<int> called_{0};
  const std::stop_callback<count> counts_{token_, count{called_}};
};

constexpr std::chrono::microseconds soon{200};

TEST(stop_token, is_told_when_a_scope_is_joined_that_its_deadline_has_cancelled) {
  for (int round = 0; round < repetitions(300, 50); ++round) {
    nopal::cancel_scope s{soon};
    const told token{s.token()};
    s.fork([] { poll_for_ever(); });
    EXPECT_FALSE(s.try_join());
    EXPECT_TRUE(token.wholly()) << round;
  }
}

TEST(stop_token, is_told_when_a_scope_ends_that_its_deadline_has_cancelled) {
  for (int round = 0; round < repetitions(300, 50); ++round) {
    std::optional<told> token;
    {
      nopal::cancel_scope s{soon};
      token.emplace(s.token());
      s.fork([] { poll_for_ever(); });
    }
    EXPECT_TRUE(token->wholly()) << round;
  }
}

TEST(stop_token, is_told_when_a_scope_is_joined_that_another_thread_has_cancelled) {
  for (int round = 0; round < repetitions(300, 50); ++round) {
    gate running;
    nopal::cancel_scope s;
    const told token{s.token()};
    std::thread cancels{[&] {
      running.wait();
      s.cancel();
    }};
    s.fork([&] { endless(running); });
    EXPECT_FALSE(s.try_join());
    EXPECT_TRUE(token.wholly()) << round;
    cancels.join();
  }
}

TEST(stop_token, is_told_when_a_scope_is_joined_that_another_token_has_cancelled) {
  for (int round = 0; round < repetitions(300, 50); ++round) {
    gate running;
    std::stop_source source;
    nopal::cancel_scope s{source.get_token()};
    const told token{s.token()};
    std::thread cancels{[&] {
      running.wait();
      source.request_stop();
    }};
    s.fork([&] { endless(running); });
    EXPECT_FALSE(s.try_join());
    EXPECT_TRUE(token.wholly()) << round;
    cancels.join();
  }
}

TEST(stop_token, is_told_when_the_deadline_around_has_cancelled_the_joining_strand) {
  for (int round = 0; round < repetitions(300, 50); ++round) {
    bool was_told = true; // also if it was cancelled before it forked
    nopal::cancel_scope outer{soon};
    outer.fork([&] {
      nopal::cancel_scope inner;
      const told token{inner.token()};
      try {
        inner.fork([] { poll_for_ever(); });
        inner.join();
      } catch (const nopal::cancelled&) {
        was_told = token.wholly();
        throw;
      }
    });
    EXPECT_FALSE(outer.try_join());
    EXPECT_TRUE(was_told) << round;
  }
}

TEST(stop_token, is_told_when_fibers_have_ended_that_a_deadline_has_cancelled) {
  for (int round = 0; round < repetitions(300, 50); ++round) {
    nopal::cancelable all;
    const std::stop_token token = all.token();
    nopal::run([&] {
      all.cancel_after(soon);
      nopal::spawn(all, [] { poll_for_ever(); });
      nopal::spawn(all, [] { nopal::channel<int>{}.recv(); });
    });
    EXPECT_TRUE(token.stop_requested()) << round;
  }
}

TEST(stop_token, is_told_when_the_second_of_two_that_cancel_returns) {
  for (int round = 0; round < repetitions(300, 50); ++round) {
    nopal::cancelable all;
    const std::stop_token token = all.token();
    all.cancel_after(soon);
    while (!all.cancelled())
      std::this_thread::yield();
    all.cancel();
    EXPECT_TRUE(token.stop_requested()) << round;
  }
}

TEST(stop_token, is_told_where_the_strand_itself_requests_the_stop_in_a_callback) {
  nopal::cancel_scope first, second;
  const told token{second.token()};
  const std::stop_callback cancels{first.token(), [&] { second.cancel(); }};
  first.fork([&] { first.cancel(); });
  static_cast<void>(first.try_join());
  EXPECT_TRUE(token.wholly());
}

} // namespace
} // namespace nopal_test
