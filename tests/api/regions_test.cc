// SPDX-License-Identifier: MIT
// The cases of regions_cases.h with four workers.
#include "tests/api/regions_cases.h"

namespace {
const nopal_test::start begun{4};
}

namespace nopal_test {

// Fibers of an arena run on as many vprocs as it has.
TEST(region, fibers_of_an_arena_run_at_the_same_time) {
  nopal::arena{4}.run([] {
    std::atomic<int> begun{0};
    nopal::run([&] {
      const auto meet = [&] {
        begun += 1;
        while (begun < 4)
          nopal::poll();
      };
      for (int i = 0; i < 4; ++i)
        nopal::spawn([&] {
          const nopal::no_preemption until_all_have_come;
          meet();
        });
    });
  });
}

} // namespace nopal_test
