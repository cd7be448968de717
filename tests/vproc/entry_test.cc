// SPDX-License-Identifier: MIT
// A thread that is in the scheduler does not enter it again.
#include "nopal/vproc/entry.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <thread>

namespace nopal_test {
namespace {

using namespace nopal::vproc;

TEST(entry, a_thread_enters_and_leaves) {
  enter();
  leave();
  enter();
  leave();
}

TEST(entry, code_of_no_strand_leaves_the_thread_where_it_was) {
  const bool entered = enter_if_outside();
  EXPECT_TRUE(entered);
  const bool again = enter_if_outside();
  EXPECT_FALSE(again) << "it is inside";
  leave_if(again);
  EXPECT_FALSE(enter_if_outside()) << "the inner answer leaves it inside";
  leave_if(entered);
  EXPECT_TRUE(enter_if_outside()) << "the outer one takes it outside";
  leave();
}

TEST(entry, each_thread_is_inside_or_outside_by_itself) {
  enter();
  bool outside = false;
  std::thread([&outside] { outside = enter_if_outside(); }).join();
  EXPECT_TRUE(outside);
  leave();
}

class entry_death : public death {};

TEST_F(entry_death, a_signal_handler_that_forks_in_the_scheduler) {
  enter();
  EXPECT_DEATH(enter(), "a signal handler forks, and has interrupted Nopal's scheduler");
  leave();
}

} // namespace
} // namespace nopal_test
