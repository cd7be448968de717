// SPDX-License-Identifier: MIT
// Cancelables of functions that are called from fibers which belong to something already, and
// fibers that belong to two things.
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/either.h"
#include "nopal/fiber_group.h"
#include "nopal/submit.h"
#include "nopal/task_group.h"
#include "tests/api/endless.h"
#include "tests/api/support.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <thread>

namespace nopal_test {
namespace {

TEST(cancelable_within, shares_a_fiber_with_another_one) {
  for (const bool first : {true, false}) {
    nopal::cancelable a;
    nopal::cancelable b;
    std::atomic<int> ended{0};
    std::atomic<bool> running{false};
    nopal::run([&] {
      nopal::cancel_wrapper(b, nopal::cancel_wrapper(a, nopal::make_fiber([&] {
                                                       const counted_end notes{ended};
                                                       running = true;
                                                       poll_for_ever();
                                                     })))
          .start();
      while (!running)
        nopal::yield();
      (first ? a : b).cancel();
      EXPECT_EQ(ended, 1);
    });
    EXPECT_NE(a.cancelled(), b.cancelled());
  }
}

// What a function of a library does that knows nothing of its caller: it has fibers of its own,
// which wait for ever, until it cancels them. Returns whether all have ended then that have begun.
bool uses_one_of_its_own() {
  nopal::channel<int> never;
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  nopal::cancelable own;
  for (int i = 0; i < 3; ++i)
    nopal::spawn(own, [&] {
      ++begun;
      const counted_end notes{ended};
      never.recv();
    });
  while (begun == 0)
    nopal::yield();
  own.cancel();
  return begun == ended;
}

TEST(cancelable_within, is_used_within_whatever_can_be_cancelled) {
  nopal::run([] {
    int right = 0;
    const auto use = [&right] { right += uses_one_of_its_own() ? 1 : 0; };
    nopal::fiber_group group;
    group.spawn(use);
    group.join();
    nopal::task<int>{[&] { return use(), 1; }}.get();
    nopal::cancelable outer;
    nopal::ivar<void> used;
    nopal::spawn(outer, [&] {
      use();
      used.set();
    });
    used.get();
    nopal::cancel_scope scope;
    scope.fork(use);
    scope.join();
    static_cast<void>(nopal::either(use));
    nopal::task_group tasks;
    tasks.add(use);
    tasks.wait();
    nopal::submit(use).get();
    nopal::fiber_group of_run;
    of_run.spawn([&] { nopal::run(use); });
    of_run.join();
    EXPECT_EQ(right, 8);
  });
}

// One in the other, as a recursive function makes them.
int nested(int depth) {
  if (depth == 0)
    return uses_one_of_its_own() ? 1 : 0;
  nopal::cancelable own;
  nopal::ivar<int> result;
  nopal::spawn(own, [&, depth] { result.set(nested(depth - 1)); });
  const int below = result.get();
  own.cancel();
  return below;
}
TEST(cancelable_within, is_used_within_many) {
  EXPECT_EQ(nopal::run([] { return nested(20); }), 1);
}

// The function waits for ever when it is cancelled from outside: its fibers stop, too, before the
// cancelable ends.
template <class Cancel> void is_stopped_from_outside(Cancel cancelled_within) {
  for (int round = 0; round < repetitions(50, 10); ++round) {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    const auto waits_for_ever = [&] {
      nopal::channel<int> never;
      nopal::cancelable own;
      const auto wait = [&] {
        const counted_end notes{ended};
        ++begun;
        never.recv();
      };
      nopal::spawn(own, wait);
      nopal::spawn(own, [&] {
        nopal::spawn(wait);
        wait();
      });
      wait();
    };
    nopal::run([&] {
      cancelled_within(waits_for_ever, [&] {
        while (begun < 4)
          nopal::yield();
      });
    });
    EXPECT_EQ(ended, 4);
  }
}

TEST(cancelable_within, of_a_fiber_that_is_cancelled_ends_after_its_fibers) {
  is_stopped_from_outside([](auto body, auto begun) {
    nopal::fiber_group group;
    group.spawn(body);
    begun();
    group.cancel();
    group.join();
  });
  is_stopped_from_outside([](auto body, auto begun) {
    nopal::task<void> task{body};
    begun();
    task.cancel();
    task.join();
  });
  is_stopped_from_outside([](auto body, auto begun) {
    nopal::cancelable outer;
    nopal::spawn(outer, body);
    begun();
    outer.cancel();
  });
  is_stopped_from_outside([](auto body, auto begun) {
    nopal::task_group tasks;
    tasks.add(body);
    begun();
    tasks.cancel();
    tasks.wait();
  });
}

// The fiber belongs to no cancelable, but an exception or its region ends its function.
TEST(cancelable_within, of_a_function_that_is_unwound_cancels_its_fibers) {
  const auto spawns_and_throws = [] {
    nopal::channel<int> never;
    nopal::cancelable own;
    nopal::spawn(own, [&] { never.recv(); });
    nopal::yield();
    throw std::runtime_error{"early"};
  };
  EXPECT_THROW(nopal::run(spawns_and_throws), std::runtime_error);
  nopal::cancel_scope scope{std::chrono::milliseconds{1}};
  scope.fork([] {
    nopal::run([] {
      nopal::channel<int> never;
      nopal::cancelable own;
      nopal::spawn(own, [&] { never.recv(); });
      never.recv();
    });
  });
  EXPECT_FALSE(scope.try_join());
}

// Both wait for what the fiber of one spawns into the other, and only that one is told its failure.
TEST(cancelable_within, and_a_group_made_elsewhere_share_a_fiber) {
  for (int round = 0; round < repetitions(50, 10); ++round)
    nopal::run([] {
      nopal::fiber_group a;
      nopal::fiber_group b;
      std::atomic<int> ended{0};
      a.spawn([&] {
        b.spawn([&] {
          for (int i = 0; i < 3; ++i)
            nopal::yield();
          ++ended;
          throw 7;
        });
      });
      EXPECT_NO_THROW(a.join());
      EXPECT_EQ(ended, 1);
      EXPECT_THROW(b.join(), int);
    });
}

TEST(cancelable_within, tells_the_tokens_of_scopes_in_shared_fibers) {
  for (const bool first : {true, false}) {
    std::atomic<bool> running{false};
    nopal::cancelable a;
    nopal::cancelable b;
    nopal::run([&] {
      nopal::spawn(a, [&] {
        nopal::spawn(b, [&] {
          nopal::cancel_scope inner;
          const std::stop_token token = inner.token();
          running = true;
          while (!token.stop_requested())
            std::this_thread::yield();
        });
      });
      while (!running)
        nopal::yield();
      (first ? a : b).cancel(std::make_exception_ptr(7));
    });
  }
}

TEST(cancelable_within, that_outlives_a_shared_fiber_is_used_again) {
  nopal::cancelable lasting;
  for (int round = 0; round < 3; ++round)
    nopal::run([&] {
      nopal::fiber_group group;
      auto* kept = new nopal::fiber_group*;
      group.spawn([&] { nopal::spawn(lasting, [&] { *kept = new nopal::fiber_group; }); });
      group.join();
      bool ran = false;
      (*kept)->spawn([&] { ran = true; }); // below both, though the fiber that made it has ended
      (*kept)->join();
      EXPECT_TRUE(ran);
      delete *kept;
      delete kept;
    });
}

} // namespace
} // namespace nopal_test
