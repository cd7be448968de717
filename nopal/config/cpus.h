// SPDX-License-Identifier: MIT
// How many CPUs this process may use, and the reason in words.
//
// That is the smallest of three numbers: the CPUs online, the CPUs in the affinity mask, which
// heeds cpusets, and the cgroup's CPU quota rounded up to whole CPUs. A cgroup's quota binds all
// cgroups below it, so each cgroup on the path is read, in v1 and v2, through every mount that
// shows it. In a container a mount may begin in the middle of the tree.
// Any thread may call these functions, which keep no state.
#pragma once

#include "nopal/config.h"

#include <optional>
#include <sched.h>
#include <string>
#include <string_view>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {

struct cpu_count {
  unsigned count = 1; // never below 1
  // First the limit that decides, with file and value (of equal limits the one that is named first
  // above). Then what the other limits allow. Then each file that was ignored, and why.
  std::string why;
};

// `affinity` is the number of CPUs in the affinity mask, or 0 if it could not be read. `root`
// stands before each path that is read: empty, or a test's folder with files of its own.
cpu_count available_cpus(unsigned affinity, const std::string& root = "");

// The CPUs that the calling thread may run on, ascending; empty if the kernel does not say. A
// machine may have more than 1,024. `get` is sched_getaffinity, or a test's function in its place.
std::vector<int> affinity_cpus(int (*get)(pid_t, std::size_t, cpu_set_t*) = sched_getaffinity);

// Parses the kernel's list format, "0-3,8": ascending, not empty. Nothing for any other text.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config
NOPAL_HIDDEN_END
