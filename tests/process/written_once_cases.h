// SPDX-License-Identifier: MIT
// The program of written_once.h in one process, on threads or serially.
#pragma once

#include "tests/process/written_once.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

TEST(written_once, runs_in_one_process) {
  for (int round = 0; round < 20; ++round) {
    process::session session{0, nullptr};
    EXPECT_EQ(computed(session), "92 std::out_of_range: too deep");
    EXPECT_EQ(session.size(), 1u);
  }
}

} // namespace
} // namespace nopal_test
