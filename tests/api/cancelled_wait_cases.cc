// SPDX-License-Identifier: MIT
// Strands that are cancelled while they wait: for a mutex, a condition, a channel, an ivar, fibers.
#include "nopal/blocking.h"
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/either.h"
#include "nopal/future.h"
#include "nopal/mutex.h"
#include "nopal/preemption.h"
#include "tests/api/endless.h"
#include "tests/api/support.h"

#include <memory>
#include <mutex>

namespace nopal_test {
namespace {
constexpr int rounds = 200;

// The children of a cancel scope call `wait`, which does not return by itself, and the scope is
// cancelled while they wait, or before.
template <class Wait> void cancel_those_that(Wait wait, int children) {
  gate first;
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  std::atomic<int> returned{0};
  nopal::cancel_scope s;
  for (int i = 0; i < children; ++i)
    s.fork([&] {
      begun += 1;
      const counted_end end{ended};
      first.open();
      wait();
      returned += 1;
    });
  first.wait();
  s.cancel();
  EXPECT_FALSE(s.try_join());
  EXPECT_EQ(begun, ended);
  EXPECT_EQ(returned, 0);
}

TEST(cancelled_wait, for_a_mutex_goes_on_without_it) {
  for (int round = 0; round < rounds; ++round) {
    nopal::mutex held;
    held.lock();
    cancel_those_that([&] { const std::scoped_lock guard{held}; }, 3);
    held.unlock();
    EXPECT_TRUE(held.try_lock());
    held.unlock();
  }
}

TEST(cancelled_wait, for_a_mutex_lets_others_have_it) {
  for (int round = 0; round < rounds; ++round) {
    nopal::mutex held;
    held.lock();
    std::atomic<int> entered{0};
    nopal::scope others;
    gate waits;
    others.fork([&] {
      waits.open();
      const std::scoped_lock guard{held};
      entered += 1;
    });
    waits.wait();
    cancel_those_that([&] { const std::scoped_lock guard{held}; }, 2);
    held.unlock();
    others.join();
    EXPECT_EQ(entered, 1);
  }
}

TEST(cancelled_wait, for_a_condition_holds_the_mutex_again) {
  for (int round = 0; round < rounds; ++round) {
    nopal::mutex lock;
    nopal::condition_variable never;
    int inside = 0;
    cancel_those_that(
        [&] {
          std::unique_lock guard{lock};
          struct leaves {
            ~leaves() { inside += 1; } // under the mutex
            int& inside;
          } const end{inside};
          for (;;)
            never.wait(guard);
        },
        3);
    EXPECT_LE(inside, 3);
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
    never.notify_one();
    never.notify_all();
  }
}

TEST(cancelled_wait, for_a_channel_takes_the_offer_back) {
  for (int round = 0; round < rounds; ++round) {
    nopal::channel<std::unique_ptr<int>> silent;
    cancel_those_that([&] { silent.recv(); }, 3);
    cancel_those_that([&] { silent.send(std::make_unique<int>(1)); }, 3);
    nopal::channel<int> other;
    cancel_those_that(
        [&] { nopal::select(nopal::recv(silent, [](auto) {}), nopal::send(other, 1)); }, 3);
  }
}

TEST(cancelled_wait, for_a_channel_leaves_the_values_to_others) {
  for (int round = 0; round < rounds; ++round) {
    nopal::channel<int> numbers;
    std::atomic<int> sum{0};
    nopal::scope sender;
    sender.fork([&] {
      for (int i = 1; i <= 4; ++i)
        numbers.send(i);
    });
    {
      nopal::cancel_scope s;
      gate running;
      s.fork([&] {
        running.open();
        for (;;)
          sum += numbers.recv();
      });
      running.wait();
      s.cancel();
      static_cast<void>(s.try_join());
    }
    while (sum < 10)
      sum += numbers.recv();
    sender.join();
    EXPECT_EQ(sum, 10);
  }
}

TEST(cancelled_wait, for_an_ivar) {
  for (int round = 0; round < rounds; ++round) {
    nopal::ivar<int> later;
    cancel_those_that([&] { later.get(); }, 3);
    later.set(1);
    EXPECT_EQ(later.get(), 1);
  }
}

TEST(cancelled_wait, where_two_cancel_at_once) {
  for (int round = 0; round < 50 * rounds; ++round) {
    nopal::ivar<int> never;
    nopal::cancel_scope first;
    nopal::cancel_scope second;
    nopal::scope cancelling;
    first.fork([&] { never.get(); });
    second.fork([&] { never.get(); });
    cancelling.fork([&] { first.cancel(); });
    second.cancel();
    cancelling.join();
    EXPECT_FALSE(second.try_join());
    EXPECT_FALSE(first.try_join());
  }
}

TEST(cancelled_wait, of_fibers_of_a_cancelable) {
  for (int round = 0; round < rounds; ++round) {
    nopal::mutex held;
    nopal::channel<int> silent;
    nopal::cancelable waiting;
    std::atomic<int> ended{0};
    nopal::run([&] {
      held.lock();
      for (int i = 0; i < 3; ++i) {
        nopal::spawn(waiting, [&] {
          const counted_end end{ended};
          const std::scoped_lock guard{held};
        });
        nopal::spawn(waiting, [&] {
          const counted_end end{ended};
          silent.recv();
        });
      }
      nopal::yield();
      waiting.cancel();
      held.unlock();
    });
    EXPECT_LE(ended, 6);
  }
}

TEST(cancelled_wait, of_computations_below) {
  for (int round = 0; round < rounds; ++round)
    cancel_those_that(
        [] {
          nopal::channel<int> silent;
          nopal::run([&] {
            nopal::spawn([&] { silent.recv(); });
            silent.recv();
          });
        },
        2);
}

TEST(cancelled_wait, ends_where_an_alternative_has_an_answer) {
  for (int round = 0; round < rounds; ++round) {
    nopal::channel<int> silent;
    EXPECT_EQ(nopal::either([&] { return silent.recv(); }, [] { return 2; }), 2);
  }
}

TEST(cancelled_wait, does_not_happen_in_destructors_that_an_exception_runs) {
  for (int round = 0; round < rounds; ++round) {
    nopal::channel<int> numbers;
    struct receives {
      ~receives() { got = numbers.recv(); }
      nopal::channel<int>& numbers;
      int& got;
    };
    int got = 0;
    gate running;
    nopal::cancel_scope s;
    s.fork([&] {
      const receives end{numbers, got};
      running.open();
      for (;;)
        nopal::poll();
    });
    running.wait();
    s.cancel();
    numbers.send(5);
    EXPECT_FALSE(s.try_join());
    EXPECT_EQ(got, 5);
  }
}

// The caller has what the call has got, and stops after it.
TEST(cancelled_wait, of_a_blocking_call_loses_no_result) {
  gate blocked;
  gate returns;
  std::unique_ptr<int> got;
  std::atomic<int> after{0};
  nopal::cancel_scope s;
  s.fork([&] {
    got = nopal::blocking([&] {
      blocked.open();
      returns.wait();
      return std::make_unique<int>(3);
    });
    nopal::poll();
    after += 1;
  });
  blocked.wait();
  s.cancel();
  returns.open();
  EXPECT_FALSE(s.try_join());
  EXPECT_NE(got, nullptr);
  EXPECT_EQ(after, 0);
}

TEST(cancelled_wait, of_a_blocking_call_does_not_begin_it) {
  gate running;
  gate cancelled;
  std::atomic<int> called{0};
  nopal::cancel_scope s;
  s.fork([&] {
    running.open();
    cancelled.wait();
    nopal::blocking([&] { called += 1; });
  });
  running.wait();
  s.cancel();
  cancelled.open();
  EXPECT_FALSE(s.try_join());
  EXPECT_EQ(called, 0);
}

TEST(cancelled_wait, of_what_fails_behind_a_failure) {
  for (int round = 0; round < rounds; ++round) {
    nopal::channel<int> silent;
    gate waits;
    EXPECT_THROW(nopal::invoke(
                     [&] {
                       waits.wait();
                       throw 1;
                     },
                     [&] {
                       waits.open();
                       return silent.recv();
                     }),
                 int);
  }
}

} // namespace
} // namespace nopal_test
