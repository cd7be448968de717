// SPDX-License-Identifier: MIT
// The cases of regions_cases.cc with four workers.
#include "nopal/arena.h"
#include "nopal/fiber.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"

#include <atomic>

namespace {
const nopal_test::start begun{4};
}

namespace nopal_test {

// Fibers of an arena run on as many vprocs as it has.
TEST(region, fibers_of_an_arena_run_at_the_same_time) {
  nopal::arena{4}.run([] {
    std::atomic<int> begun{0};
    nopal::run([&] {
      for (int i = 0; i < 4; ++i)
        nopal::spawn([&begun] {
          const nopal::no_preemption until_all_have_come;
          begun += 1;
          while (begun < 4)
            nopal::poll();
        });
    });
  });
}

} // namespace nopal_test
