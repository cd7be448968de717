// SPDX-License-Identifier: MIT
// Strands that the timer preempts, at forks and at polls (docs/scheduling.md).
#include "nopal/affine.h"
#include "nopal/base/os.h"
#include "nopal/channel.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/preemption.h"
#include "nopal/scheduler.h"
#include "tests/api/support.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace nopal_test {

// Runs `busy` until another fiber, which needs the thread, has had its turn.
template <class Busy> void until_another_ran(Busy busy) {
  std::atomic<bool> ran{false};
  nopal::run([&] {
    nopal::spawn([&] {
      nopal::spawn([&] { ran = true; });
      while (!ran)
        busy();
    });
  });
  EXPECT_TRUE(ran);
}

TEST(preemption, a_loop_that_polls_gives_way) {
  until_another_ran([] { nopal::poll(); });
}

TEST(preemption, a_strand_that_forks_gives_way) {
  until_another_ran([] { fib(10); });
}

// The forks above the poll are open; they are taken back or stolen, each once.
TEST(preemption, open_forks_travel_with_the_strand) {
  for (int i = 0; i < repetitions(3, 20); ++i) {
    std::atomic<int> children{0};
    std::atomic<bool> ran{false};
    nopal::run([&] {
      nopal::spawn([&] {
        nopal::spawn([&] { ran = true; });
        nopal::for_index(0, 8, [&](int) {
          while (!ran)
            nopal::poll();
          children += 1;
        });
      });
    });
    EXPECT_EQ(children, 8);
  }
}

TEST(preemption, amid_exceptions) {
  std::atomic<bool> ran{false};
  std::string seen;
  nopal::run([&] {
    nopal::spawn([&] {
      nopal::spawn([&] {
        try {
          throw std::runtime_error("another's");
        } catch (const std::runtime_error&) {
          ran = true;
        }
      });
      try {
        throw std::runtime_error("its own");
      } catch (const std::runtime_error& handled) {
        while (!ran)
          nopal::poll();
        try {
          throw;
        } catch (const std::runtime_error& again) {
          seen = again.what();
        }
        EXPECT_STREQ(handled.what(), "its own");
      }
    });
  });
  EXPECT_EQ(seen, "its own");
}

TEST(preemption, inside_an_affine_region) {
  std::atomic<bool> ran{false};
  pid_t before = 0;
  pid_t after = 0;
  nopal::run([&] {
    nopal::spawn([&] {
      before = thread_id();
      nopal::affine([&] {
        nopal::run([&] {
          nopal::spawn([&] {
            nopal::spawn([&] { ran = true; });
            while (!ran)
              nopal::poll();
          });
        });
      });
      after = thread_id();
    });
  });
  EXPECT_EQ(before, after);
}

TEST(preemption, while_a_mutex_is_held_and_awaited) {
  nopal::mutex mutex;
  std::atomic<bool> waits{false};
  bool second = false;
  nopal::run([&] {
    nopal::spawn([&] {
      const std::lock_guard guard{mutex};
      nopal::spawn([&] {
        waits = true;
        const std::lock_guard mine{mutex};
        second = true;
      });
      while (!waits)
        nopal::poll();
      EXPECT_FALSE(second);
    });
  });
  EXPECT_TRUE(second);
}

// A strand that was preempted finds its errno again.
TEST(preemption, a_strand_keeps_its_errno) {
  until_another_ran([] {
    nopal::base::set_error(17);
    nopal::poll();
    EXPECT_EQ(*nopal::base::this_threads_error(), 17);
  });
}

// A scheduler decides what follows when its fiber is preempted: its action gets the signal.
class counts_preemptions : public nopal::action {
public:
  std::atomic<int> preempted{0};
  std::deque<nopal::fiber> ready;

private:
  nopal::decision receive(nopal::action_signal now) override {
    if (!now.is_stop()) {
      preempted += 1;
      ready.push_back(std::move(now.preempted));
    }
    if (ready.empty())
      return forward(nopal::action_signal::stop());
    nopal::fiber next = std::move(ready.front());
    ready.pop_front();
    return run(std::move(next));
  }
};

TEST(preemption, tells_the_action) {
  counts_preemptions order;
  nopal::run([&] {
    order.ready.push_back(nopal::make_fiber([&] {
      while (order.preempted == 0)
        nopal::poll();
    }));
    order.starter().start();
  });
  EXPECT_GE(order.preempted, 1);
}

TEST(preemption, is_counted) {
  const std::uint64_t before = nopal::stats().preemptions;
  until_another_ran([] { nopal::poll(); });
  if (nopal::num_workers() == 1) {
    EXPECT_GT(nopal::stats().preemptions, before);
  }
}

// On a thread that runs no strands nothing happens.
TEST(preemption, a_poll_needs_no_strand) {
  const std::uint64_t before = nopal::stats().preemptions;
  for (int i = 0; i < 1000; ++i)
    nopal::poll();
  const nopal::no_preemption guard;
  EXPECT_EQ(nopal::stats().preemptions, before);
}

} // namespace nopal_test
