// SPDX-License-Identifier: MIT
// Fibers that are cancelled: through schedulers, from inside and outside, with all that they spawn.
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/find.h"
#include "nopal/policies.h"
#include "tests/api/endless.h"
#include "tests/api/support.h"

#include <thread>

namespace nopal_test {
namespace {

TEST(cancelable, returns_from_cancel_when_all_its_fibers_have_stopped) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    nopal::cancelable search;
    const auto endless = [&] {
      begun += 1;
      const counted_end end{ended};
      running.open();
      poll_for_ever();
    };
    nopal::run([&] {
      nopal::spawn(search, [&] {
        begun += 1;
        const counted_end end{ended};
        nopal::spawn(endless); // of the same cancelable
        nopal::spawn(endless);
        nopal::for_index(0, 1 << 30, [](int) {}, 1);
      });
      running.wait();
      search.cancel();
      EXPECT_EQ(begun, ended);
      EXPECT_GE(ended, 2);
      search.cancel();
    });
  }
}

// A computation whose function throws stops its fibers, whatever cancels them beside.
TEST(cancelable, of_which_a_fiber_is_stopped_by_its_computation) {
  for (int round = 0; round < repetitions(100, 20); ++round) {
    nopal::cancelable outside;
    nopal::channel<int> silent;
    std::atomic<bool> begun{false};
    const auto body = [&] {
      nopal::spawn(outside, [&] {
        begun = true;
        silent.recv();
      });
      while (!begun)
        nopal::yield();
      throw 1;
    };
    EXPECT_THROW(nopal::run(body), int);
    EXPECT_FALSE(outside.cancelled());
  }
}

TEST(cancelable, cancels_those_below_it_and_no_other) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    std::atomic<int> ended{0};
    std::atomic<bool> finished{false};
    nopal::run([&] {
      nopal::cancelable above;
      nopal::cancelable below{above};
      nopal::cancelable beside;
      nopal::spawn(below, [&] {
        const counted_end end{ended};
        running.open();
        poll_for_ever();
      });
      running.wait();
      gate cancelled;
      nopal::spawn(beside, [&] {
        cancelled.wait();
        nopal::scope s;
        s.fork([] {});
        s.join();
        nopal::poll();
        finished = true;
      });
      above.cancel();
      cancelled.open();
      EXPECT_EQ(ended, 1);
      EXPECT_TRUE(below.cancelled());
      EXPECT_FALSE(beside.cancelled());
      while (!finished)
        nopal::yield();
      beside.cancel();
    });
    EXPECT_TRUE(finished);
  }
}

TEST(cancelable, may_end_with_those_above_it_when_cancel_returns) {
  nopal::run([] {
    for (int round = 0; round < 500; ++round) {
      std::atomic<bool> running{false};
      nopal::cancelable above;
      nopal::cancelable below{above};
      nopal::spawn(below, [&] {
        running = true;
        poll_for_ever();
      });
      while (!running)
        nopal::yield();
      below.cancel();
    }
  });
}

TEST(cancelable, does_not_begin_what_it_is_given_after_it_was_cancelled) {
  std::atomic<int> begun{0};
  nopal::cancelable ended;
  nopal::run([&] {
    ended.cancel();
    nopal::spawn(ended, [&] { begun += 1; });
    nopal::fiber wrapped = nopal::cancel_wrapper(ended, nopal::make_fiber([&] { begun += 1; }));
    std::move(wrapped).start();
  });
  EXPECT_EQ(begun, 0);
}

TEST(cancelable, marks_and_does_not_wait_when_it_is_cancelled_from_inside) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> marked{0};
    std::atomic<int> ended{0};
    nopal::cancelable own;
    nopal::run([&] {
      nopal::spawn(own, [&] {
        const counted_end end{ended};
        nopal::scope s;
        s.fork([&] {
          own.cancel();
          marked += 1;
        });
        s.join();
        nopal::poll();
        marked += 100;
      });
      nopal::spawn(own, [&] {
        nopal::run([&] { // a computation in it
          own.cancel();
          marked += 1;
          poll_for_ever();
        });
      });
    });
    EXPECT_LE(marked, 2);
    EXPECT_GE(marked, 1);
    EXPECT_LE(ended, 1);
  }
}

TEST(cancelable, reaches_what_runs_in_computations_and_policies_of_its_fibers) {
  for (int round = 0; round < 50; ++round) {
    gate running;
    std::atomic<int> ended{0};
    nopal::cancelable outer;
    nopal::run([&] {
      nopal::spawn(outer, [&] {
        const counted_end end{ended};
        nopal::run([&] {
          nopal::spawn([&] {
            const counted_end inner{ended};
            nopal::affine([&] {
              nopal::scope s;
              s.fork([&] {
                running.open();
                poll_for_ever();
              });
              s.join();
            });
          });
          poll_for_ever();
        });
      });
      running.wait();
      outer.cancel();
      EXPECT_EQ(ended, 2);
    });
  }
}

TEST(cancelable, is_cancelled_by_a_thread_that_runs_no_strands) {
  gate running;
  nopal::cancelable search;
  std::thread other([&] {
    running.wait();
    search.cancel();
  });
  nopal::run([&] {
    nopal::spawn(search, [&] {
      running.open();
      poll_for_ever();
    });
  });
  other.join();
  EXPECT_TRUE(search.cancelled());
}

TEST(cancelable_misuse, ends_in_words) {
  EXPECT_DEATH(nopal::run([] {
                 nopal::channel<int> never;
                 nopal::cancelable own;
                 nopal::spawn(own, [&] { never.recv(); });
                 nopal::yield();
               }),
               "a nopal::cancelable was destroyed that has fibers which have not ended");
}

} // namespace
} // namespace nopal_test
