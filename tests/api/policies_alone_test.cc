// SPDX-License-Identifier: MIT
// Who goes first, and how often, where there is one thread.
#include "tests/api/policies_cases.h"

namespace {
const nopal_test::start with{1};
}

namespace nopal_test {

TEST(policies_alone, round_robin_goes_round) {
  nopal::round_robin order;
  std::string ran;
  nopal::run(order, [&] {
    for (const char name : {'a', 'b', 'c'})
      nopal::spawn([&, name] {
        for (int i = 0; i < 3; ++i) {
          ran += name;
          nopal::yield();
        }
      });
  });
  EXPECT_EQ(ran, "abcabcabc");
}

TEST(policies_alone, newest_first_goes_deep) {
  nopal::newest_first order;
  std::string ran;
  nopal::run(order, [&] {
    for (const char name : {'a', 'b'})
      nopal::spawn([&, name] {
        ran += name;
        nopal::spawn([&, name] { ran += static_cast<char>(name + 1); });
      });
  });
  EXPECT_EQ(ran, "bcab");
}

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
        const double before_all = by_shares.used();
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

} // namespace nopal_test
