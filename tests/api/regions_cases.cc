// SPDX-License-Identifier: MIT
// What a region, an arena, a scheduler and a spare know of each other: who runs where a thread
// blocks, sleeps in a region or ignores its ticks.
#include "nopal/affine.h"
#include "nopal/arena.h"
#include "nopal/blocking.h"
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/policies.h"
#include "nopal/preemption.h"
#include "tests/api/meeting.h"
#include "tests/api/support.h"

#include <array>
#include <atomic>
#include <string>
#include <thread>

namespace nopal_test {

constexpr int many = 10;

// As many fibers block at the same time.
void all_block() {
  meeting all{many};
  nopal::run([&] {
    for (int i = 0; i < many; ++i)
      nopal::spawn([&] { nopal::blocking([&] { all.come(); }); });
  });
}

// Each fiber goes on until all have begun, and neither forks nor polls.
void all_spin() {
  std::atomic<int> begun{0};
  nopal::run([&] {
    for (int i = 0; i < many; ++i)
      nopal::spawn([&] {
        begun += 1;
        while (begun < many)
          std::this_thread::yield();
      });
  });
}

// A thread that needs a fiber is joined.
void a_thread_is_joined() {
  nopal::channel<int> to_thread;
  int received = 0;
  nopal::run([&] {
    nopal::spawn([&] {
      nopal::blocking([&] {
        std::thread other{[&] { received = to_thread.recv(); }};
        other.join();
      });
    });
    nopal::spawn([&] { to_thread.send(5); });
  });
  EXPECT_EQ(received, 5);
}

template <class Policy> void under(void (*f)()) {
  Policy order;
  nopal::run(order, [f] { f(); });
}
void in_arena(void (*f)()) {
  for (unsigned vprocs : {1u, 2u, 4u})
    nopal::arena{vprocs}.run(f);
}
void in_a_region_of_an_arena(void (*f)()) {
  nopal::arena{2}.run([f] { nopal::run([f] { nopal::affine(f); }); });
}

struct surrounding {
  const char* name;
  void (*run)(void (*f)());
};
std::string name_of(const testing::TestParamInfo<surrounding>& tested) { return tested.param.name; }

class within : public testing::TestWithParam<surrounding> {};

TEST_P(within, fibers_block_at_the_same_time) { GetParam().run(all_block); }
TEST_P(within, fibers_that_ignore_their_ticks_run_at_the_same_time) { GetParam().run(all_spin); }
TEST_P(within, a_thread_is_joined_that_needs_a_fiber) { GetParam().run(a_thread_is_joined); }

INSTANTIATE_TEST_SUITE_P(
    surroundings, within,
    testing::Values(surrounding{"run", [](void (*f)()) { f(); }}, surrounding{"arena", in_arena},
                    surrounding{"region",
                                [](void (*f)()) { nopal::run([f] { nopal::affine(f); }); }},
                    surrounding{"region_of_an_arena", in_a_region_of_an_arena},
                    surrounding{"round_robin", under<nopal::round_robin>},
                    surrounding{"newest_first", under<nopal::newest_first>},
                    surrounding{"proportional_share", under<nopal::proportional_share>},
                    surrounding{"gang", under<nopal::gang>},
                    surrounding{"work_stealing", under<nopal::work_stealing>}),
    name_of);

// A strand waits in a region, and the fiber that wakes it is under the same scheduler.
TEST(region, waits_for_a_fiber_of_the_scheduler_outside) {
  nopal::round_robin order;
  nopal::channel<int> values;
  int sum = 0;
  nopal::run(order, [&] {
    nopal::spawn(
        [&] { nopal::affine([&] { sum += nopal::arena{2}.run([&] { return values.recv(); }); }); });
    nopal::spawn([&] { values.send(3); });
  });
  EXPECT_EQ(sum, 3);
}

// The thread that a spare replaced comes back while the spare is in a region; then the spare
// blocks, and what is in the region runs all the same.
TEST(region, of_a_spare_that_blocks_is_run_by_another) {
  for (int round = 0; round < 10; ++round) {
    std::atomic<bool> in_region{false};
    std::atomic<bool> back{false};
    nopal::run([&] {
      nopal::spawn([&] {
        nopal::blocking([&] {
          while (!in_region)
            std::this_thread::yield();
        });
        back = true;
      });
      nopal::spawn([&] {
        nopal::affine([&] {
          in_region = true;
          while (!back)
            nopal::blocking([] { std::this_thread::yield(); });
          all_block();
        });
      });
    });
  }
}

// A scheduler outside has its turns, however often the fibers of the one inside give way or wait.
template <class Outer, class Inner> void nobody_starves() {
  Outer outside;
  std::atomic<bool> stop{false};
  nopal::run(outside, [&] {
    nopal::spawn([&] { stop = true; });
    for (int i = 0; i < 2; ++i)
      nopal::spawn([&] {
        Inner inside;
        nopal::channel<int> values;
        nopal::run(inside, [&] {
          nopal::spawn([&] {
            while (!stop)
              nopal::poll();
          });
          nopal::spawn([&] {
            while (!stop)
              nopal::yield();
          });
          nopal::spawn([&] {
            while (!stop)
              values.send(1);
            values.send(0);
          });
          while (values.recv() != 0)
            continue;
        });
      });
    // Begins after those above have, where the newest goes first.
    nopal::spawn([] {});
  });
  EXPECT_TRUE(stop);
}

template <class Outer> void nobody_starves_under() {
  nobody_starves<Outer, nopal::round_robin>();
  nobody_starves<Outer, nopal::newest_first>();
  nobody_starves<Outer, nopal::proportional_share>();
  nobody_starves<Outer, nopal::gang>();
  nobody_starves<Outer, nopal::work_stealing>();
}
TEST(nested_policies, starve_nobody_in_turns) { nobody_starves_under<nopal::round_robin>(); }
TEST(nested_policies, starve_nobody_where_the_newest_is_first) {
  nobody_starves_under<nopal::newest_first>();
}
TEST(nested_policies, starve_nobody_by_shares) {
  nobody_starves_under<nopal::proportional_share>();
}
TEST(nested_policies, starve_nobody_in_a_gang) { nobody_starves_under<nopal::gang>(); }
TEST(nested_policies, starve_nobody_where_work_is_stolen) {
  nobody_starves_under<nopal::work_stealing>();
}

} // namespace nopal_test
