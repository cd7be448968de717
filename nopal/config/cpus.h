// SPDX-License-Identifier: MIT
// How many CPUs this process may use, and the reason in words.
//
// The answer is the smallest of three numbers: CPUs online, CPUs in the affinity mask (cpusets show
// there), and the cgroup CPU quota rounded up to whole CPUs. A quota set on any ancestor binds all
// that is below it, so the whole path is read, v1 and v2, through every mount that shows it: in a
// container the mount may begin in the middle of the tree.
#pragma once

#include "nopal/config.h"

#include <optional>
#include <sched.h>
#include <string>
#include <string_view>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::config {

struct cpu_count {
  unsigned count = 1; // never below 1
  // The limit that decides with file and value first (of equal limits the one that is named first
  // above), then what the others allow, then each thing that was ignored and why.
  std::string why;
};

// `affinity`: CPUs in the affinity mask; 0 when it could not be read. All files are read below the
// folder `root`, which tests point at a fixture tree; empty: the machine's own.
cpu_count available_cpus(unsigned affinity, const std::string& root = "");

// The CPUs that the calling thread may run on, ascending; empty when the kernel does not say.
// Grows its mask for machines with more than 1,024 CPUs. `get` is sched_getaffinity or, in tests,
// a machine that the test makes up.
std::vector<int> affinity_cpus(int (*get)(pid_t, std::size_t, cpu_set_t*) = sched_getaffinity);

// Parses the kernel's list format, "0-3,8": ascending, not empty. Nothing for any other text.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

} // namespace nopal::config
NOPAL_HIDDEN_END
