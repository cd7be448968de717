// SPDX-License-Identifier: MIT
// The cases of every_point_cases.cc on one worker, where the schedule is always the same: so a test
// can enumerate the points at which a fiber is cancelled from outside, and what it has done there.
#include "nopal/cancelable.h"
#include "nopal/fiber.h"
#include "nopal/policies.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"
#include "tests/api/watched_program.h"

namespace {
const nopal_test::start this_program{1};

// The program gives way at each point. Another fiber counts its turns, and cancels in turn `turn`.
struct outcome {
  int passed;
  bool stopped;
  bool operator==(const outcome&) const = default;
};
outcome cancelled_in_turn(int turn) {
  nopal_test::watched_program program{[](int) { nopal::yield(); }};
  nopal::round_robin order;
  bool complete = false;
  nopal::run(order, [&] {
    nopal::cancelable whole;
    nopal::spawn(whole, [&] {
      if (program.run() == nopal_test::whole_result)
        complete = true;
    });
    for (int i = 0; i < turn; ++i)
      nopal::yield();
    whole.cancel();
    const int passed = program.passed_in_all();
    nopal::yield();
    EXPECT_EQ(program.passed_in_all(), passed) << "it went on after cancel had returned";
  });
  program.expect_released();
  return {program.passed_in_all(), !complete};
}

TEST(every_turn, of_another_fiber_may_be_where_it_is_cancelled) {
  int passed_before = 0;
  int turn = 0;
  for (bool stopped = true; stopped; ++turn) {
    ASSERT_LE(turn, 10 * nopal_test::points);
    const outcome once = cancelled_in_turn(turn);
    EXPECT_EQ(cancelled_in_turn(turn), once) << "turn " << turn;
    EXPECT_GE(once.passed, passed_before);
    EXPECT_LE(once.passed, nopal_test::points);
    passed_before = once.passed;
    stopped = once.stopped;
  }
  EXPECT_EQ(passed_before, nopal_test::points);
  EXPECT_GE(turn, nopal_test::points);
}

} // namespace
