// SPDX-License-Identifier: MIT
// The order in which workers are bound to CPUs, and the binding itself.
#pragma once

#include <string>
#include <vector>

namespace nopal::config {

// CPUs in binding order, and what the order rests on, in words for NOPAL_VERBOSE.
struct cpu_order {
  std::vector<int> cpus;
  std::string source;
};

// Orders the CPUs of an affinity mask: first one CPU of each physical core, then the second of
// each, and so on; within a round package by package, so that neighbouring workers share caches.
// Asks hwloc where it is compiled in, else reads /sys below `root`, which tests point at a fixture
// tree (hwloc knows only the machine itself: any other root than "/" is read from files). When
// neither tells, the order is plain and `source` says why.
cpu_order bind_order(const std::vector<int>& affinity, const std::string& root = "/");

// Lets the calling thread run on `cpu` only. When the kernel refuses, says so on standard error
// and returns false.
[[nodiscard]] bool bind_this_thread(int cpu);

} // namespace nopal::config
