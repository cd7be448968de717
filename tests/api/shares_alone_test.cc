// SPDX-License-Identifier: MIT
// Proportional shares where there is one thread, and no stand-in that would run one fiber beside
// another: no ticks.
#include "nopal/policies.h"
#include "tests/api/support.h"

#include <algorithm>

namespace nopal_test {
namespace {

[[maybe_unused]] const bool configured = (nopal::configure({.num_workers = 1, .tick = 0}), true);

// The fiber that has used least for its share goes first. So what two have used for their shares
// never differs by more than a turn.
TEST(policies_alone, shares_are_kept) {
  nopal::proportional_share by_shares;
  double used[2] = {};
  double longest = 0;
  int turns = 0;
  nopal::run(by_shares, [&] {
    for (const int which : {0, 1})
      nopal::spawn([&, which] {
        by_shares.set_share(which == 0 ? 3 : 1);
        nopal::yield();
        const double before_all = by_shares.used(); // a turn that the other one catches up with
        longest = std::max(longest, before_all);
        while (turns++ < 400) {
          for (int i = 0; i < 500; ++i)
            fib(5);
          nopal::yield();
          const double now = by_shares.used() - before_all;
          longest = std::max(longest, now - used[which]);
          used[which] = now;
        }
      });
  });
  EXPECT_GT(used[0], 2 * used[1] - 4 * longest);
  EXPECT_NEAR(used[0] / 3, used[1], 2 * longest);
}

} // namespace
} // namespace nopal_test
