// SPDX-License-Identifier: MIT
// The options are decided once; a call that comes too late ends with a message of what decided
// them.
#include "nopal/vproc/settings.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using namespace nopal::vproc;

TEST(settings, are_what_the_program_asked_for_last) {
  EXPECT_EQ(apart([] {
              set_options({.num_workers = 7});
              set_options({.num_workers = 3});
              return options_in_force().num_workers.value;
            }),
            3u);
}

TEST(settings, are_decided_once) {
  EXPECT_EQ(apart([] {
              set_options({.num_workers = 3});
              const auto* const first = &options_in_force();
              return first == &options_in_force() && first == &options_at_first_fork() ? 1 : 0;
            }),
            1u);
}

TEST(settings, callbacks_are_used_as_they_are) {
  EXPECT_EQ(apart([] {
              std::uint64_t calls = 0;
              set_options({.on_worker_start = [&calls] { ++calls; }});
              static_cast<void>(options_in_force());
              options_asked().on_worker_start();
              return calls;
            }),
            1u);
}

TEST(settings, steals_are_forced_with_the_seed) {
  EXPECT_EQ(apart([] {
              if (steals_forced())
                return std::uint64_t{0};
              force_steals(17);
              return steals_forced() ? options_in_force().seed.value : 1;
            }),
            17u);
}

TEST(settings, virtual_workers_are_known_from_the_first_fork_on) {
  EXPECT_EQ(apart([] {
              set_options({.num_workers = 1, .virtual_workers = 5});
              static_cast<void>(options_in_force());
              const unsigned before = virtual_workers();
              static_cast<void>(options_at_first_fork());
              return 100 * before + virtual_workers();
            }),
            5u);
}

class settings_death : public death {};

TEST_F(settings_death, options_that_come_after_they_were_asked_for) {
  EXPECT_DEATH(
      {
        static_cast<void>(options_in_force());
        set_options({.num_workers = 3});
      },
      "nopal::configure was called after nopal::num_workers");
}

TEST_F(settings_death, options_that_come_after_the_first_fork) {
  EXPECT_DEATH(
      {
        static_cast<void>(options_at_first_fork());
        set_options({.num_workers = 3});
      },
      "nopal::configure was called after the first fork");
}

TEST_F(settings_death, steals_that_are_forced_after_the_options_are_decided) {
  EXPECT_DEATH(
      {
        static_cast<void>(options_in_force());
        force_steals(1);
      },
      "steals were forced after the first fork, or after the options were decided");
}

} // namespace
} // namespace nopal_test
