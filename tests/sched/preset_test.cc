// SPDX-License-Identifier: MIT
// What a preset chooses, and what its limits must not cost.
#include "nopal/base/die.h"
#include "nopal/fork.h"
#include "nopal/runtime.h"
#include "nopal/sched/pool.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace nopal_test {
namespace {

#define NOPAL_TEXT_OF(name) #name
#define NOPAL_TEXT(name) NOPAL_TEXT_OF(name)

TEST(preset, has_its_stack_policy) {
  const std::string preset = NOPAL_TEXT(NOPAL_PRESET);
  const auto policy = nopal::sched::options_in_force().policy.value.policy;
  if (preset == "fibril")
    EXPECT_EQ(policy, nopal::stack_policy::dontneed);
  else if (preset == "cilkplus")
    EXPECT_EQ(policy, nopal::stack_policy::bounded);
  else if (preset == "nopal" || preset == "split")
    EXPECT_EQ(policy, nopal::stack_policy::budget);
  else
    EXPECT_EQ(policy, nopal::stack_policy::keep) << preset;
}

#if NOPAL_TRACK_ANCESTORS
using preset_death = death;

TEST_F(preset_death, whose_frames_share_stacks_has_neither_budget_nor_census) {
  for (const nopal::options& asked :
       {nopal::options{.stack_budget = 1 << 20}, nopal::options{.census = true}})
    EXPECT_EXIT(
        {
          nopal::configure(asked);
          be_stolen();
        },
        testing::ExitedWithCode(nopal::base::exit_status_died), "share stacks among frames");
}
#endif

// A thief that has no stack must not keep asleep one that could have it.
TEST(preset, every_continuation_is_stolen_while_thieves_lack_stacks) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 4, .max_stacks = 2});
              for (int i = 0; i < 50; ++i)
                be_stolen();
              return 0;
            }),
            0);
}

// The worker that comes here waits for `inner`, whose main path another one takes; if the preset
// restricts thieves, it may only steal from below here meanwhile.
[[gnu::noinline]] void restrict_a_thief(gate& restricted, const std::atomic<bool>& released) {
  nopal::scope inner;
  inner.fork([&restricted] { restricted.wait(); });
  restricted.open();
  released.wait(false); // in a system call: it takes no processor from those that matter
  inner.join();
}

void keep_a_thief_restricted(gate& restricted, const std::atomic<bool>& released) {
  nopal::scope outer;
  outer.fork([&released] { released.wait(false); });
  restrict_a_thief(restricted, released);
  outer.join();
}

// A thief that may not take what woke it must pass on that it is there.
TEST(preset, every_continuation_is_stolen_while_a_thief_is_restricted) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 5});
              gate restricted;
              std::atomic<bool> released{false};
              std::thread other([&] { keep_a_thief_restricted(restricted, released); });
              restricted.wait();
              for (int i = 0; i < 30; ++i) {
                const std::uint64_t before = nopal::stats().sleeps;
                be_stolen();
                while (nopal::stats().sleeps == before)
                  std::this_thread::yield();
              }
              released.store(true);
              released.notify_all();
              other.join();
              return 0;
            }),
            0);
}

} // namespace
} // namespace nopal_test
