// SPDX-License-Identifier: MIT
// Whatever a strand does again and again, it is cancelled; so is a wait in `cancel`. A touched
// future throws `cancelled` only into a strand that is cancelled.
#include "nopal/cancelable.h"
#include "nopal/channel.h"
#include "nopal/future.h"
#include "nopal/mutex.h"
#include "nopal/vprocs.h"
#include "tests/api/alone.h"
#include "tests/api/endless.h"
#include "tests/api/support.h"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace nopal_test {
namespace {

// Each is done for ever by a fiber, which is cancelled.
struct endless_loop {
  const char* name;
  std::function<void()> step;
};

TEST(loops, over_any_point_are_cancelled) {
  nopal::mutex free;
  nopal::mutex held;
  held.lock();
  nopal::ivar<int> set;
  set.set(1);
  nopal::ivar<int> unset;
  nopal::channel<int> silent;
  const std::vector<endless_loop> loops = {
      {"yield", [] { nopal::yield(); }},
      {"run", [] { nopal::run([] {}); }},
      {"select", [&] { nopal::select(nopal::recv(silent, [](int) {}), nopal::otherwise()); }},
      {"lock", [&] { const std::scoped_lock guard{free}; }},
      {"try_lock",
       [&] {
         if (held.try_lock())
           held.unlock();
       }},
      {"is_set", [&] { static_cast<void>(unset.is_set()); }},
      {"get", [&] { set.get(); }},
      {"touch", [] { nopal::future1<int>([] { return 1; }).touch(); }},
      {"migrate_to", [] { nopal::migrate_to(nopal::host()); }},
  };
  for (const endless_loop& each : loops) {
    std::atomic<int> ended{0};
    nopal::run([&] {
      nopal::cancelable all;
      std::atomic<int> begun{0};
      for (int i = 0; i < (alone() ? 1 : 2); ++i) // a spare thread runs the canceller then
        nopal::spawn(all, [&] {
          const counted_end end{ended};
          begun += 1;
          for (;;)
            each.step();
        });
      while (begun == 0)
        nopal::yield();
      all.cancel();
      EXPECT_EQ(ended, begun) << each.name;
    });
    EXPECT_GE(ended, 1) << each.name;
  }
  held.unlock();
  EXPECT_TRUE(free.try_lock()) << "a cancelled strand has kept the mutex";
  free.unlock();
}

TEST(cancel, of_two_that_cancel_each_other_returns) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> ended{0};
    nopal::run([&] {
      nopal::cancelable a;
      nopal::cancelable b;
      const auto cancels = [&ended](nopal::cancelable& other) {
        return [&ended, &other] {
          const counted_end end{ended};
          nopal::yield();
          other.cancel();
        };
      };
      nopal::spawn(a, cancels(b));
      nopal::spawn(b, cancels(a));
      nopal::yield();
      a.cancel();
      b.cancel();
    });
    EXPECT_LE(ended, 2);
  }
}

TEST(cancel, in_a_ring_returns) {
  for (int round = 0; round < 100; ++round) {
    nopal::cancelable ring[3];
    nopal::run([&] {
      for (int i = 0; i < 3; ++i)
        nopal::spawn(ring[i], [&ring, i] {
          nopal::yield();
          ring[(i + 1) % 3].cancel();
        });
    });
  }
}

// What it waits for lives in its frame, and ends before that.
TEST(cancel, that_is_cancelled_leaves_no_fiber_behind) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    nopal::run([&] {
      nopal::cancelable outer;
      std::atomic<bool> waits{false};
      nopal::spawn(outer, [&] {
        nopal::cancelable inner{outer};
        nopal::spawn(inner, [&] {
          const counted_end end{ended};
          begun += 1;
          nopal::shielded([&] {
            waits = true;
            while (!outer.cancelled())
              nopal::yield();
          });
          poll_for_ever();
        });
        wait_as_fiber(waits);
        inner.cancel();
      });
      wait_as_fiber(waits);
      outer.cancel();
      EXPECT_EQ(begun, ended);
    });
  }
}

TEST(touch, of_a_future_whose_fiber_was_cancelled_says_so) {
  for (int round = 0; round < 20; ++round)
    nopal::run([] {
      nopal::cancelable computing;
      std::unique_ptr<nopal::future1<int>> later;
      std::atomic<bool> begun{false};
      nopal::spawn(computing, [&] {
        later = std::make_unique<nopal::future1<int>>([&begun]() -> int {
          begun = true;
          poll_for_ever();
        });
      });
      wait_as_fiber(begun);
      computing.cancel();
      EXPECT_FALSE(nopal::is_cancelled());
      EXPECT_THROW(later->touch(), nopal::broken_future);
    });
}

TEST(touch, throws_what_the_function_throws_also_if_that_is_cancelled) {
  nopal::run([] {
    nopal::future1<int> later{[]() -> int { throw nopal::cancelled{}; }};
    EXPECT_THROW(later.touch(), nopal::cancelled);
  });
}

TEST(touch, by_a_cancelled_strand_throws_cancelled) {
  for (int round = 0; round < 100; ++round)
    nopal::run([] {
      std::atomic<bool> thrown{false};
      nopal::future1<int> later{[] { return 1; }};
      nopal::cancel_scope s;
      s.fork([&] {
        try {
          s.cancel();
          later.touch();
        } catch (const nopal::cancelled&) {
          thrown = true;
          throw;
        }
      });
      EXPECT_FALSE(s.try_join());
      EXPECT_TRUE(thrown);
    });
}

} // namespace
} // namespace nopal_test
