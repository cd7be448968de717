// SPDX-License-Identifier: MIT
// Regions that are cancelled: what is skipped, what stops, what the join says.
#include "nopal/cancel.h"
#include "nopal/loop.h"
#include "nopal/preemption.h"
#include "tests/api/endless.h"
#include "tests/api/numbered.h"
#include "tests/api/support.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace nopal_test {
namespace {

TEST(cancel_scope, that_is_not_cancelled_is_a_scope) {
  nopal::cancel_scope s;
  int a = 0;
  s.fork(a, [] { return 1; });
  EXPECT_TRUE(s.try_join());
  s.fork(a, [] { return 2; });
  s.join();
  EXPECT_EQ(a, 2);
  EXPECT_FALSE(s.cancelled());
}

// The next poll throws again, and a check build says where it was swallowed.
TEST(cancel_scope, is_not_stopped_by_a_handler_that_swallows_it) {
  nopal::cancel_scope region;
  bool thrown_again = false;
  testing::internal::CaptureStderr();
  region.fork([&] {
    region.cancel();
    try {
      poll_for_ever();
    } catch (...) {
    }
    try {
      nopal::poll();
    } catch (const nopal::cancelled&) {
      thrown_again = true;
      throw;
    }
  });
  EXPECT_FALSE(region.try_join());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(thrown_again);
#if defined(NOPAL_CHECKS)
  EXPECT_NE(said.find("a handler has caught nopal::cancelled and not thrown it on"),
            std::string::npos)
      << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
#else
  EXPECT_EQ(said, "");
#endif
}

TEST(cancel_scope, skips_what_is_forked_after_it_was_cancelled) {
  nopal::cancel_scope s;
  int before = 0;
  int after = 0;
  s.fork(before, [] { return 1; });
  s.cancel();
  s.fork(after, [] { return 1; });
  s.fork([copy = std::make_unique<int>(1), &after] { after += *copy; });
  EXPECT_FALSE(s.try_join());
  EXPECT_TRUE(s.cancelled());
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 0);
  s.fork(after, [] { return 1; });
  EXPECT_THROW(s.join(), nopal::cancelled);
  EXPECT_EQ(after, 0);
}

TEST(cancel_scope, stops_children_that_poll_fork_or_loop) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    nopal::cancel_scope s;
    int untouched = 7;
    s.fork(untouched, [&] {
      begun += 1;
      const counted_end end{ended};
      return endless(running);
    });
    s.fork([&] {
      begun += 1;
      const counted_end end{ended};
      for (;;) {
        nopal::scope inner;
        inner.fork([] {});
        inner.join();
      }
    });
    s.fork([&] {
      begun += 1;
      const counted_end end{ended};
      for (;;)
        nopal::for_index(0, 100, [](int) {}, 1);
    });
    running.wait();
    s.cancel();
    EXPECT_FALSE(s.try_join());
    EXPECT_EQ(ended, begun);
    EXPECT_GE(ended, 1);
    EXPECT_EQ(untouched, 7);
  }
}

TEST(cancel_scope, stops_children_when_an_exception_unwinds_it) {
  gate running;
  EXPECT_THROW(
      {
        nopal::cancel_scope s;
        s.fork([&] { endless(running); });
        running.wait();
        throw numbered(1);
      },
      numbered);
}

TEST(cancel_scope, is_left_without_a_word_where_children_were_cancelled) {
  gate running;
  {
    nopal::cancel_scope s;
    s.fork([&] { endless(running); });
    running.wait();
    s.cancel();
  }
  nopal::scope outer;
  int a = 0;
  outer.fork(a, [] { return 1; });
  outer.join();
  EXPECT_EQ(a, 1);
}

TEST(cancel_scope, rethrows_what_a_child_has_thrown_before_the_cancellation) {
  nopal::cancel_scope s;
  s.fork([] { throw numbered(3); });
  s.cancel();
  s.fork([] {});
  EXPECT_THROW(s.join(), numbered);
}

TEST(cancel_scope, is_cancelled_at_its_deadline) {
  nopal::cancel_scope s{std::chrono::milliseconds(1)};
  s.fork(poll_for_ever);
  EXPECT_FALSE(s.try_join());
  nopal::cancel_scope late{std::chrono::hours(1)};
  late.fork([] {});
  EXPECT_TRUE(late.try_join());
}

TEST(cancel_scope, that_is_not_the_one_cancelled_goes_on) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    nopal::cancel_scope a;
    nopal::cancel_scope b;
    b.fork([&] { endless(running); });
    running.wait();
    b.cancel();
    EXPECT_FALSE(b.try_join());
    int x = 0;
    a.fork(x, [] {
      int y = 0;
      nopal::scope s;
      s.fork(y, [] { return 5; });
      s.join();
      return y;
    });
    EXPECT_TRUE(a.try_join());
    EXPECT_EQ(x, 5);
  }
}

// A scope lasts until the strand that cancels it has returned from its calls.
struct nested_scopes {
  gate innermost;
  gate canceller_is_back;
  std::vector<std::atomic<nopal::cancel_scope*>> all;
};
struct until_canceller_is_back {
  nested_scopes& scopes;
  ~until_canceller_is_back() { scopes.canceller_is_back.wait(); }
};

int nested(int depth, nested_scopes& scopes) {
  if (depth == 0)
    return endless(scopes.innermost);
  nopal::cancel_scope s;
  const until_canceller_is_back kept{scopes};
  scopes.all[static_cast<std::size_t>(depth) - 1] = &s;
  int below = 0;
  s.fork(below, [&scopes, depth] { return nested(depth - 1, scopes); });
  s.join();
  return below;
}

// Another strand cancels the scope at level `at`; the innermost scope has level 0.
void cancel_nested(int at) {
  constexpr int depth = 64;
  nested_scopes scopes{{}, {}, std::vector<std::atomic<nopal::cancel_scope*>>(depth)};
  nopal::cancel_scope s;
  s.fork([&] { nested(depth, scopes); });
  scopes.innermost.wait();
  nopal::cancel_scope* const chosen =
      at == depth ? &s : scopes.all[static_cast<std::size_t>(at)].load();
  chosen->cancel();
  chosen->cancel();
  scopes.canceller_is_back.open();
  EXPECT_FALSE(s.try_join());
  s.cancel();
}

TEST(nested_cancel_scopes, are_left_wherever_they_are_cancelled) {
  if (on_views())
    GTEST_SKIP() << "the canceller is given scopes that lie in frames of no ancestor";
  for (const int at : {0, 1, 31, 63, 64})
    cancel_nested(at);
}

// The innermost child cancels the scope at `level` above it.
int cancel_from_inside(int depth, int level, nopal::cancel_scope*& chosen) {
  if (depth == 0) {
    chosen->cancel();
    chosen->cancel();
    poll_for_ever();
  }
  nopal::cancel_scope s;
  if (depth == level)
    chosen = &s;
  int below = 0;
  s.fork(below, [&, depth, level] { return cancel_from_inside(depth - 1, level, chosen); });
  s.join();
  return below;
}

TEST(nested_cancel_scopes, are_left_where_one_is_cancelled_from_inside) {
  for (const int level : {1, 2, 32, 64}) {
    nopal::cancel_scope* chosen = nullptr;
    EXPECT_THROW(cancel_from_inside(64, level, chosen), nopal::cancelled);
  }
}

TEST(cancelled, is_thrown_again_where_it_is_swallowed) {
  gate running;
  std::atomic<int> swallowed{0};
  nopal::cancel_scope s;
  s.fork([&] {
    for (;;) {
      try {
        running.open();
        nopal::poll();
      } catch (const nopal::cancelled&) {
        if (++swallowed == 3)
          throw;
      }
    }
  });
  running.wait();
  s.cancel();
  EXPECT_FALSE(s.try_join());
  EXPECT_EQ(swallowed, 3);
}

TEST(cancelled, does_not_reach_destructors_while_it_unwinds) {
  struct forks_at_its_end {
    ~forks_at_its_end() {
      int a = 0;
      nopal::scope s;
      s.fork(a, [] { return 2; });
      s.join();
      sum += a;
    }
    std::atomic<int>& sum;
  };
  for (int round = 0; round < 100; ++round) {
    gate running;
    std::atomic<int> sum{0};
    nopal::cancel_scope s;
    s.fork([&] {
      const forks_at_its_end end{sum};
      endless(running);
    });
    running.wait();
    s.cancel();
    EXPECT_FALSE(s.try_join());
    EXPECT_EQ(sum, 2);
  }
}

TEST(shielded, code_is_not_cancelled_but_what_follows_is) {
  for (int round = 0; round < 100; ++round) {
    gate running;
    gate go_on;
    std::atomic<int> done{0};
    nopal::cancel_scope s;
    s.fork([&] {
      const int computed = nopal::shielded([&] {
        running.open();
        go_on.wait();
        int a = 0;
        nopal::scope inner;
        inner.fork(a, [] {
          nopal::poll();
          return 1;
        });
        nopal::poll();
        inner.join();
        EXPECT_FALSE(nopal::is_cancelled());
        return a;
      });
      done += computed;
      nopal::poll();
      done += 100;
    });
    running.wait();
    s.cancel();
    go_on.open();
    EXPECT_FALSE(s.try_join());
    EXPECT_EQ(done, 1);
  }
}

TEST(shielded, code_can_be_cancelled_by_what_it_declares) {
  EXPECT_THROW(nopal::shielded([] {
                 nopal::cancel_scope s;
                 s.cancel();
                 s.fork([] {});
                 s.join();
               }),
               nopal::cancelled);
  EXPECT_THROW(nopal::shielded([] { throw numbered(1); }), numbered);
}

TEST(is_cancelled, tells_the_strand) {
  EXPECT_FALSE(nopal::is_cancelled());
  nopal::cancel_scope s;
  s.fork([&s] {
    EXPECT_FALSE(nopal::is_cancelled());
    s.cancel();
    EXPECT_TRUE(nopal::is_cancelled());
    EXPECT_TRUE(nopal::is_cancelled());
  });
  EXPECT_FALSE(nopal::is_cancelled());
  static_cast<void>(s.try_join());
  EXPECT_FALSE(nopal::is_cancelled());
}

} // namespace
} // namespace nopal_test
