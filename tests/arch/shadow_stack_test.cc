// SPDX-License-Identifier: MIT
// shadow_stack_is_on reads the processor; the kernel must say the same of this thread.
#include "nopal/arch/arch.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace nopal_test {
namespace {

bool kernel_says_so() {
  std::ifstream status{"/proc/thread-self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("x86_Thread_features:"))
      return line.find("shstk") != line.npos;
  return false;
}

TEST(shadow_stack, is_on_where_the_kernel_says_so) {
  EXPECT_EQ(nopal::arch::shadow_stack_is_on(), kernel_says_so());
}

} // namespace
} // namespace nopal_test
