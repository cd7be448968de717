// SPDX-License-Identifier: MIT
// Cancellation on one worker: no thief asks the strand for work, so that only the cancellation can
// make it look at its signals.
#include "nopal/cancel.h"
#include "tests/api/endless.h"
#include "tests/api/support.h"

#include <atomic>
#include <thread>

namespace {
const nopal_test::start setup{1};
}

namespace nopal_test {
namespace {

TEST(cancel_alone, reaches_a_strand_that_has_forked_while_it_was_unwound) {
  struct forks_at_its_end {
    ~forks_at_its_end() {
      nopal::scope s;
      s.fork([] {});
      s.join();
    }
  };
  std::atomic<bool> running{false};
  std::atomic<bool> cancelled{false};
  nopal::cancel_scope s;
  std::thread canceller{[&] {
    while (!running)
      std::this_thread::yield();
    s.cancel();
    cancelled = true;
  }};
  s.fork([&] {
    running = true;
    while (!cancelled)
      std::this_thread::yield();
    try {
      const forks_at_its_end end;
      throw 1;
    } catch (int) {
    }
    poll_for_ever();
  });
  EXPECT_FALSE(s.try_join());
  canceller.join();
}

} // namespace
} // namespace nopal_test
