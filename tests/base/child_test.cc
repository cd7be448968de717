// SPDX-License-Identifier: MIT
// How a child of fork() is told from its parent.
#include "nopal/base/child.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using nopal::base::forks_behind;

TEST(Child, EachForkIsCountedInTheChildAlone) {
  const std::uint32_t before = forks_behind();
  const pid_t child = fork();
  if (child == 0) {
    const bool child_grew = forks_behind() == before + 1;
    const pid_t grandchild = fork();
    if (grandchild == 0)
      _exit(forks_behind() == before + 2 ? 0 : 1);
    int status = 0;
    waitpid(grandchild, &status, 0);
    _exit(child_grew && status == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(forks_behind(), before);
}

} // namespace
