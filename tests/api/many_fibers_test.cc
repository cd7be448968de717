// SPDX-License-Identifier: MIT
// A hundred thousand fibers at once: with guards, unless the kernel, before 6.13, allows fewer.
#include "nopal/base/os.h"
#include "tests/api/many_fibers.h"

namespace {

struct start {
  start() {
    nopal::configure({.num_workers = 2, .fiber_guards = nopal::base::has_guard_regions()});
  }
} const this_program;

} // namespace

namespace nopal_test {

TEST(many_fibers, take_few_kilobytes_each) {
  const std::size_t count = on_valgrind() ? 2000 : most_fibers(100000);
  const crowd seen = run_crowd(count);
  EXPECT_EQ(seen.finished, count);
  if (!on_valgrind() && count == 100000) {
    EXPECT_LE(seen.bytes_each, std::size_t{12} << 10);
  }
  std::printf("%zu fibers, %zu bytes each\n", count, seen.bytes_each);
}

using fiber_stack_death = death;

[[gnu::noinline]] int deep(int n) {
  char frame[1024];
  std::memset(frame, n, sizeof frame);
  asm volatile("" : : "r"(frame) : "memory"); // all of it is wanted
  return n == 0 ? frame[0] : deep(n - 1) + frame[0];
}

TEST_F(fiber_stack_death, an_overflow_names_the_option) {
  EXPECT_DEATH(
      {
        nopal::configure({.num_workers = 1});
        nopal::run([] { nopal::spawn([] { deep(1000); }); });
      },
      "a spawned fiber needs more than the 256 KiB of its stack; raise NOPAL_FIBER_STACK_SIZE");
}

TEST_F(fiber_stack_death, a_larger_stack_is_enough) {
  EXPECT_EXIT(
      {
        nopal::configure({.num_workers = 1, .fiber_stack_size = std::size_t{1} << 20});
        nopal::run([] { nopal::spawn([] { deep(200); }); });
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// What a fiber forks and is stolen has a large stack; where it is not, the fiber's own must do.
TEST_F(fiber_stack_death, a_fork_too_deep_names_the_option) {
  EXPECT_DEATH(
      {
        nopal::configure({.num_workers = 1, .fiber_stack_size = std::size_t{32} << 10});
        nopal::run([] { nopal::spawn([] { fib(10000); }); });
      },
      "a spawned fiber needs more than the 32 KiB of its stack; raise NOPAL_FIBER_STACK_SIZE");
}

} // namespace nopal_test
