// SPDX-License-Identifier: MIT
// Finds the physical core of each CPU in sysfs and spreads workers over the cores.
#include "nopal/config/topology.h"

#include "nopal/config/cpus.h"
#include "nopal/config/environment.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {
namespace {

// A physical core: its package, and the lowest CPU on it. CPUs with the same place share the core.
using place = std::pair<std::uint64_t, int>;

// The kernel's core_id does not name a core: it repeats from one die or cluster to the next.
std::optional<place> place_of(int cpu, const std::string& root) {
  const std::string folder =
      root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  const std::string package = read_file(folder + "physical_package_id").text;
  std::string siblings = read_file(folder + "core_cpus_list").text;
  if (siblings.empty())
    siblings = read_file(folder + "thread_siblings_list").text; // kernels before 5.3
  const auto cores = parse_cpu_list(siblings);
  // Some virtual machines number their only package -1.
  const auto package_id = package == "-1" ? 0u : parse_decimal(package);
  if (!cores || !package_id)
    return std::nullopt;
  return place{*package_id, cores->front()};
}

} // namespace

std::vector<int> bind_order(const std::vector<int>& affinity, const std::string& root) {
  std::map<place, int> placed;                 // how many CPUs of this core have come so far
  std::map<std::pair<int, place>, int> sorted; // (round, place) to CPU
  for (const int cpu : affinity) {
    const std::optional<place> found = place_of(cpu, root);
    if (!found)
      return affinity;
    sorted[{placed[*found]++, *found}] = cpu;
  }
  std::vector<int> order;
  for (const auto& [key, cpu] : sorted)
    order.push_back(cpu);
  return order;
}

int bind_thread(pthread_t thread, const std::vector<int>& cpus) {
  // The mask is as long as its highest CPU needs: cpu_set_t ends at 1,023.
  const auto last = static_cast<std::size_t>(std::ranges::max(cpus));
  std::vector<cpu_set_t> mask(last / CPU_SETSIZE + 1);
  const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
  for (const int cpu : cpus)
    CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask.data());
  return pthread_setaffinity_np(thread, bytes, mask.data());
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config
