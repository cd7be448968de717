// SPDX-License-Identifier: MIT
// The bound on strands in nopal::blocking: further calls wait for a place, in order. There are two
// workers, and three places.
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/fiber.h"
#include "nopal/loop.h"
#include "nopal/sched/stop.h"
#include "nopal/sync/choice.h"
#include "tests/api/meeting.h"
#include "tests/api/support.h"

#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

struct three_places {
  three_places() { nopal::configure({.num_workers = 2, .max_blocking = 3}); }
};
const three_places this_program;

long threads() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/task"},
                       std::filesystem::directory_iterator{});
}

// Counts those that are within at the same time.
class occupancy {
public:
  void enter() {
    const int now = ++within_;
    int most = most_;
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
  }
  void leave() { --within_; }
  int most() const { return most_; }

private:
  std::atomic<int> within_{0};
  std::atomic<int> most_{0};
};

TEST(blocking, calls_beyond_the_bound_wait) {
  occupancy all;
  meeting first{3}; // three are within at the same time
  std::atomic<int> left{0};
  nopal::for_index(
      0, 100,
      [&](int) {
        nopal::blocking([&] {
          all.enter();
          first.come();
          all.leave();
        });
        ++left;
      },
      1);
  EXPECT_EQ(left, 100);
  EXPECT_EQ(all.most(), 3);
  EXPECT_LE(threads(), 2 + 3 + 2)
      << "two workers, a spare for each blocked thread, the timer, and a sanitizer's thread";
}

TEST(blocking, a_call_within_another_needs_no_place) {
  meeting first{3};
  nopal::for_index(
      0, 12,
      [&](int) {
        nopal::blocking([&] {
          first.come();
          nopal::blocking([] { nopal::blocking([] {}); });
        });
      },
      1);
}

TEST(blocking, a_place_is_given_back_where_the_call_throws) {
  for (int i = 0; i < 20; ++i)
    EXPECT_THROW(nopal::invoke([] { nopal::blocking([] { throw std::runtime_error("meant"); }); },
                               [] { nopal::blocking([] {}); }),
                 std::runtime_error);
}

TEST(blocking, a_thread_that_runs_no_strand_needs_no_place) {
  gate done;
  nopal::run([&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&] { nopal::blocking([&] { done.wait(); }); });
    std::thread outside{[&] {
      nopal::blocking([] {});
      done.open();
    }};
    nopal::blocking([&] { outside.join(); });
  });
}

// The three that have a place end only after the cancelled one.
TEST(blocking, a_strand_that_is_cancelled_while_it_waits_does_not_call) {
  gate done;
  meeting within{4};
  std::atomic<bool> called{false};
  std::thread canceller{[&] {
    within.come();
    nopal::cancel_scope s;
    s.fork([&] {
      nopal::invoke([&] { nopal::blocking([&] { called = true; }); }, [&] { s.cancel(); });
    });
    EXPECT_FALSE(s.try_join());
    done.open();
  }};
  nopal::run([&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&] {
        nopal::blocking([&] {
          within.come();
          done.wait();
        });
      });
  });
  canceller.join();
  EXPECT_FALSE(called);
}

int waiting() {
  int number = 0;
  const auto count = [](const nopal::sync::choice& seen, void* into) {
    *static_cast<int*>(into) += seen.wants == nopal::sync::wanted::blocking ? 1 : 0;
  };
  nopal::sched::wake_all_cancelled({.see = count, .argument = &number});
  return number;
}

// One after the other waits, and has the one place that is not taken for good.
TEST(blocking, those_that_wait_are_called_in_order) {
  gate others_end;
  gate all_wait;
  std::atomic<int> within{0};
  std::vector<int> order; // one at a time
  nopal::run([&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&, i] {
        nopal::blocking([&] {
          ++within;
          (i == 0 ? all_wait : others_end).wait();
        });
      });
    while (within < 3)
      nopal::yield();
    for (int i = 0; i < 10; ++i) {
      nopal::spawn([&, i] {
        nopal::blocking([&] { order.push_back(i); });
        if (i == 9)
          others_end.open();
      });
      while (waiting() <= i)
        nopal::yield();
    }
    all_wait.open();
  });
  std::vector<int> expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

using blocking_death = death;
TEST_F(blocking_death, says_once_that_calls_wait) {
  const auto many = [] {
    for (int round = 0; round < 3; ++round) {
      gate end;
      std::atomic<int> within{0};
      nopal::run([&] {
        for (int i = 0; i < 3; ++i)
          nopal::spawn([&] {
            nopal::blocking([&] {
              ++within;
              end.wait();
            });
          });
        while (within < 3)
          nopal::yield();
        nopal::spawn([] { nopal::blocking([] {}); });
        while (waiting() == 0)
          nopal::yield();
        end.open();
      });
    }
    std::_Exit(3);
  };
  EXPECT_EXIT(many(), testing::ExitedWithCode(3),
              "^nopal: 3 strands are in nopal::blocking, each with a thread, and further calls "
              "wait until one of them returns; if they wait for each other, raise "
              "NOPAL_MAX_BLOCKING\n$");
}

} // namespace
} // namespace nopal_test
