// SPDX-License-Identifier: MIT
// The guard below the region, and the handler of faults there.
#include "nopal/process/run/guard.h"

#include "nopal/arch/uni_address.h"
#include "nopal/base/die.h"
#include "nopal/base/faults.h"
#include "nopal/base/os.h"
#include "nopal/process/run/forked.h"
#include "nopal/process/run/worker.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <unistd.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// guard_region writes these before the handler is installed, and the handler only reads them: it
// formats nothing.
layout guarded;
pid_t own_process = 0;
char sentence[256];
std::optional<base::signal_stack> own_stack;

void look_at_fault(std::uintptr_t at, const void*, bool) {
  if (at >= guarded.guard_at() && at < guarded.region_at())
    base::die_in_signal_handler(sentence);
  if (at >= block_at && at < guarded.region_end() && getpid() != own_process)
    base::die_in_signal_handler(
        "a process that was made in a task by _Fork or clone has none of the task's stacks; fork "
        "and posix_spawn make processes that have");
}

} // namespace

void guard_region(const layout& memory) {
  guarded = memory;
  own_process = getpid();
  std::snprintf(sentence, sizeof sentence,
                "the tasks of a process need more than the uni-address region of %zu bytes for "
                "their stacks; set NOPAL_REGION_SIZE or process::options::region_size to a larger "
                "power of two, up to 1G",
                memory.region_size);
  if (!base::forbid(reinterpret_cast<void*>(memory.guard_at()), memory.guard_size()))
    base::die("the guard below the uni-address region could not be made: %s", std::strerror(errno));
  own_stack.emplace();
  if (!base::add_fault_look(look_at_fault))
    base::die("the handler that reports overflows of the region cannot be installed: %s",
              std::strerror(errno));
}

void unguard_region() noexcept {
  base::remove_fault_look(look_at_fault);
  own_stack.reset();
}

void require_region(const char* function) noexcept {
  refuse_in_child();
  if (arch::stack_pointer() - this_worker.region < this_worker.region_bytes)
    return;
  if (this_worker.home == no_run)
    base::die("process::%s was called outside of process::session::run: only a task %ss", function,
              function);
  base::die("process::%s was called on a stack that is no task's, as in a child of a nopal::scope, "
            "in a fiber, on another thread, or while such a child runs: only a task calls it, "
            "by itself",
            function);
}

std::uint64_t common_canary(group& all) {
  std::vector<std::uint64_t> canaries(all.size());
  const std::uint64_t own = arch::stack_canary();
  all.all_gather(&own, canaries.data(), sizeof own);
  return canaries[0];
}

} // namespace nopal::inline NOPAL_ABI::process
