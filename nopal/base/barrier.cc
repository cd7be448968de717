// SPDX-License-Identifier: MIT
//
// membarrier(2): private expedited, since Linux 4.14.
#include "nopal/base/barrier.h"

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nopal::base {

namespace {

atomic<bool> enabled{false};

long membarrier(int command) noexcept { return syscall(__NR_membarrier, command, 0, 0); }

} // namespace

bool enable_heavy_barrier() noexcept {
  const bool there = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  if (there)
    enabled.store(true, relaxed);
  return there;
}

void heavy_barrier() noexcept {
  full_fence();
  if (!enabled.load(relaxed))
    return; // all others fence for themselves, or take locks
  NOPAL_ASSERT(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0,
               "membarrier(2) worked when the runtime started and fails now (%s); allow it in the "
               "sandbox, or forbid it before the first fork: then Nopal does without",
               std::strerror(errno));
  full_fence();
}

} // namespace nopal::base
