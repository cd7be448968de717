// SPDX-License-Identifier: MIT
// Where a limit leaves few addresses there are fewer and closer stacks, and thieves wait for them.
#include "nopal/base/die.h"
#include "nopal/base/limits.h"
#include "nopal/base/os.h"
#include "nopal/mutex.h"
#include "nopal/stack/stack.h"
#include "tests/api/support.h"

#include <sys/resource.h>

#include <cstddef>
#include <fstream>
#include <mutex>
#include <thread>

namespace nopal_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Returns false if this process already has more addresses, as under a sanitizer.
bool limit_addresses(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  if (pages * nopal::base::page_size() > bytes / 2 || nopal::base::address_space_left() < bytes)
    return false;
  const rlimit limit{bytes, bytes};
  return setrlimit(RLIMIT_AS, &limit) == 0 && nopal::base::address_space_left() > bytes / 2;
}

// Each level leaves a stack behind, as long as there is one more for a thief.
void descend(int levels) {
  if (levels == 0)
    return;
  std::atomic<bool> stolen{false};
  nopal::scope s;
  s.fork([&stolen] {
    for (int tries = 0; tries < 40 && !stolen.load(); ++tries)
      std::this_thread::yield();
  });
  stolen.store(true);
  descend(levels - 1);
  s.join();
}

TEST(scarce, half_a_gibibyte_is_enough) {
  for (const unsigned workers : {2u, 6u}) {
    const auto done = apart([workers] {
      if (!limit_addresses(512 * kMiB))
        return 1L;
      nopal::configure({.num_workers = workers});
      for (int i = 0; i < 100; ++i)
        be_stolen();
      descend(120);
      const bool few = nopal::stack::capacity() <= 64 && nopal::stack::slot_bytes() <= 8 * kMiB;
      return few && fib(20) == 6765 && nopal::stats().steals >= 100 ? 2L : 3L;
    });
    if (done == 1u)
      GTEST_SKIP() << "this program has more addresses already";
    EXPECT_EQ(done, 2u) << workers;
  }
}

// Strands that wait for a mutex hold stacks, and the strand that has it may need a thief. So the
// bound must not keep thieves from stacks.
TEST(scarce, strands_that_wait_do_not_keep_thieves_from_stacks) {
  const auto done = apart([] {
    if (!limit_addresses(512 * kMiB))
      return 1L;
    nopal::configure({.num_workers = 4});
    nopal::vproc::force_steals(3);
    nopal::mutex mutex;
    long count = 0;
    nopal::scope s;
    for (int i = 0; i < 40; ++i)
      s.fork([&] {
        const std::lock_guard guard{mutex};
        count += fib(4);
      });
    s.join();
    return count == 40 * 3 ? 2L : 3L;
  });
  if (done == 1u)
    GTEST_SKIP() << "this program has more addresses already";
  EXPECT_EQ(done, 2u);
}

class scarce_death : public death {};

TEST_F(scarce_death, too_few_addresses_end_in_a_sentence) {
  if (apart([] { return limit_addresses(512 * kMiB) ? 1 : 0; }) != 1u)
    GTEST_SKIP() << "this program has more addresses already";
  EXPECT_EXIT(
      {
        nopal::configure({.stack_size = 32 * kMiB});
        limit_addresses(512 * kMiB);
        be_stolen();
      },
      testing::ExitedWithCode(nopal::base::exit_status_died), "^nopal: no address space for ");
}

// A thief that has no stack must not keep a thief asleep that could have one.
TEST(bounded, every_continuation_is_stolen_while_thieves_lack_stacks) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 4, .max_stacks = 2});
              for (int i = 0; i < 50; ++i)
                be_stolen();
              return 0;
            }),
            0);
}

} // namespace
} // namespace nopal_test
