// SPDX-License-Identifier: MIT
// How often a process without work asks others for some.
#include "nopal/process/run/peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace nopal_test {
namespace {

namespace process = nopal::process;
using std::chrono::microseconds;

struct clock_of_test {
  using duration = microseconds;
  using time_point = std::chrono::time_point<clock_of_test, microseconds>;
  static inline time_point moment;
  static time_point now() noexcept { return moment; }
};

// The microseconds until the pause is over, which begins now.
int length_of(process::pause_by<clock_of_test>& pause) {
  pause.begin_longer();
  int length = 0;
  for (; !pause.is_over(); ++length)
    clock_of_test::moment += microseconds{1};
  return length;
}

TEST(pause, doubles_up_to_a_millisecond) {
  process::pause_by<clock_of_test> pause;
  EXPECT_TRUE(pause.is_over());
  for (const int length : {100, 200, 400, 800, 1000, 1000})
    EXPECT_EQ(length_of(pause), length);
}

TEST(pause, grows_with_the_time_that_a_process_is_idle) {
  process::pause_by<clock_of_test> pause;
  const auto begin = clock_of_test::moment;
  int messages = 0;
  for (microseconds idle{0}; idle < std::chrono::seconds{1}; idle = clock_of_test::moment - begin) {
    const int length = length_of(pause);
    EXPECT_LE(length, std::max<long>(1000, idle.count() / 16)); // what it delays
    ++messages;
  }
  EXPECT_LT(messages, 200);
  EXPECT_EQ(length_of(pause), 10'000);
}

} // namespace
} // namespace nopal_test
