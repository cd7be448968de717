// SPDX-License-Identifier: MIT
// Which lists of UCX's transports can bring TCP.
#include "nopal/process/transport/adapters.h"

#include <gtest/gtest.h>

namespace {

namespace process = nopal::process;

TEST(adapters, lists_without_tcp) {
  for (const char* each : {"ib", "rc,self", "rc_mlx5:aux,ud", "sysv,self", "dc_x"})
    EXPECT_FALSE(process::may_have_tcp(each)) << each;
}

TEST(adapters, lists_that_can_bring_tcp) {
  for (const char* each : {"", "tcp", "tcp,self", "ib,tcp", "tcp:aux,rc", "all", "rc,all", "^shm",
                           "^tcp,rc", ",ib", "t*", "?cp", "[t]cp", "\\tcp", "TCP", "rc tcp"})
    EXPECT_TRUE(process::may_have_tcp(each)) << each;
}

} // namespace
