// SPDX-License-Identifier: MIT
// The cases of elision_cases.h as the serial elision, which needs nothing of the library and starts
// no thread.
#define NOPAL_SERIAL 1
#include "tests/api/elision_cases.h"

#include <filesystem>
#include <iterator>

TEST(elision, starts_no_thread) {
  EXPECT_EQ(fib(15), 610);
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  EXPECT_EQ(std::distance(begin(tasks), end(tasks)), 1);
}
