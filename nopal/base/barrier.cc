// SPDX-License-Identifier: MIT
//
// membarrier(2): private expedited, since Linux 4.14.
#include "nopal/base/barrier.h"

#include "nopal/base/atomic.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nopal::base {

namespace {
long membarrier(int command) noexcept { return syscall(__NR_membarrier, command, 0, 0); }
} // namespace

bool enable_heavy_barrier() noexcept {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

void heavy_barrier() noexcept {
  full_fence();
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  full_fence();
}

} // namespace nopal::base
