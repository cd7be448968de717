// SPDX-License-Identifier: MIT
// Places: where fibers run, and which vprocs a computation is given (docs/scheduling.md).
#include "nopal/affine.h"
#include "nopal/channel.h"
#include "nopal/preemption.h"
#include "nopal/scheduler.h"
#include "nopal/vprocs.h"
#include "tests/api/support.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <vector>

namespace nopal_test {

TEST(places, are_as_many_as_workers) {
  nopal::run([] {
    const auto all = nopal::places();
    EXPECT_EQ(all.size(), nopal::num_workers());
    EXPECT_NE(std::ranges::find(all, nopal::host()), all.end());
    for (const nopal::place each : all)
      EXPECT_EQ(std::ranges::count(all, each), 1);
  });
  EXPECT_FALSE(nopal::host());
  EXPECT_TRUE(nopal::places().empty());
}

// Each fiber runs on the vproc on which it was enqueued, whether the vprocs are idle or busy.
TEST(places, a_fiber_runs_where_it_is_enqueued) {
  nopal::run([] {
    for (const nopal::place at : nopal::places())
      for (int i = 0; i < 20; ++i)
        nopal::enqueue_on(at, nopal::make_fiber([at] { EXPECT_EQ(nopal::host(), at); }));
  });
}

TEST(places, a_strand_migrates) {
  nopal::run([] {
    const auto all = nopal::places();
    for (int i = 0; i < 50; ++i) {
      const nopal::place next = all[static_cast<std::size_t>(i) % all.size()];
      nopal::migrate_to(next);
      EXPECT_EQ(nopal::host(), next);
    }
  });
}

// Its open forks go with it, and are taken back or stolen.
TEST(places, a_strand_migrates_with_open_forks) {
  std::atomic<int> children{0};
  nopal::run([&] {
    const auto all = nopal::places();
    for (int i = 0; i < repetitions(20, 20); ++i) {
      nopal::scope s;
      s.fork([&] {
        const nopal::place next = all[static_cast<std::size_t>(i) % all.size()];
        nopal::migrate_to(next);
        EXPECT_EQ(nopal::host(), next);
        children += 1;
      });
      fib(5);
      s.join();
    }
  });
  EXPECT_EQ(children, repetitions(20, 20));
}

// A pinned fiber that waits, gives way or is preempted goes on at its place.
TEST(places, a_pinned_fiber_stays) {
  nopal::channel<int> values;
  std::atomic<int> at_home{0};
  nopal::run([&] {
    for (const nopal::place at : nopal::places())
      nopal::spawn_pinned(at, [&, at] {
        for (int i = 0; i < 30; ++i) {
          const int got = values.recv();
          at_home += nopal::host() == at;
          nopal::yield();
          at_home += nopal::host() == at;
          if (got == 0)
            nopal::poll();
          at_home += nopal::host() == at;
        }
      });
    for (unsigned i = 0; i < 30 * nopal::num_workers(); ++i)
      values.send(static_cast<int>(i % 2));
  });
  EXPECT_EQ(at_home, 90 * static_cast<int>(nopal::num_workers()));
}

// A pinned fiber takes its turn behind the fibers that its vproc keeps.
TEST(places, a_pinned_fiber_gives_way_to_others) {
  std::atomic<bool> ran{false};
  nopal::run([&] {
    for (const nopal::place at : nopal::places())
      nopal::spawn_pinned(at, [&] {
        while (!ran)
          nopal::yield();
      });
    nopal::spawn([&] { ran = true; });
  });
  EXPECT_TRUE(ran);
}

// An action that runs its only fiber where the action was started.
class runs_one_fiber : public nopal::action {
public:
  explicit runs_one_fiber(nopal::fiber only) : inner_(std::move(only)) {}

private:
  nopal::decision receive(nopal::action_signal) override {
    return inner_ ? run(std::move(inner_)) : forward(nopal::action_signal::stop());
  }
  nopal::fiber inner_;
};

TEST(places, an_action_starts_where_it_is_enqueued) {
  std::vector<std::unique_ptr<runs_one_fiber>> actions;
  nopal::run([&] {
    for (const nopal::place at : nopal::places()) {
      actions.push_back(std::make_unique<runs_one_fiber>(
          nopal::make_fiber([at] { EXPECT_EQ(nopal::host(), at); })));
      nopal::enqueue_on(at, actions.back()->starter());
    }
  });
}

TEST(provision, gives_each_vproc_once) {
  nopal::run([] {
    std::vector<nopal::place> given;
    while (const nopal::place next = nopal::provision())
      given.push_back(next);
    const auto all = nopal::places();
    EXPECT_TRUE(std::ranges::is_permutation(given, all));
    nopal::release(given.front());
    EXPECT_EQ(nopal::provision(), given.front());
    EXPECT_FALSE(nopal::provision());
  });
}

// A second computation is given first what the first one has not.
TEST(provision, balances_computations_over_vprocs) {
  nopal::run([] {
    const auto all = nopal::places();
    std::vector<nopal::place> first;
    for (std::size_t i = 0; i < all.size() / 2; ++i)
      first.push_back(nopal::provision());
    nopal::run([&] {
      for (std::size_t i = all.size() / 2; i < all.size(); ++i)
        EXPECT_EQ(std::ranges::count(first, nopal::provision()), 0);
      for (std::size_t i = 0; i < all.size() / 2; ++i)
        EXPECT_EQ(std::ranges::count(first, nopal::provision()), 1);
    });
    // What the inner computation was given it has given back.
    nopal::run([&] { EXPECT_EQ(std::ranges::count(first, nopal::provision()), 0); });
  });
}

using places_death = death;

TEST_F(places_death, no_provision_outside_run) {
  EXPECT_DEATH(static_cast<void>(nopal::provision()),
               "a vproc was provisioned or released outside nopal::run");
}

TEST_F(places_death, what_was_not_given_is_not_released) {
  EXPECT_DEATH(nopal::run([] { nopal::release(nopal::host()); }),
               "a vproc was released that this computation had not been given");
}

TEST_F(places_death, no_place_is_no_place_to_run) {
  EXPECT_DEATH(nopal::run([] { nopal::enqueue_on(nopal::place{}, nopal::make_fiber([] {})); }),
               "a fiber was enqueued on a vproc that cannot run it");
}

} // namespace nopal_test
