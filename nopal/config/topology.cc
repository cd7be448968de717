// SPDX-License-Identifier: MIT
// Finds the physical core of each CPU through hwloc or sysfs and spreads workers over the cores.
#include "nopal/config/topology.h"

#include "nopal/config/cpus.h"
#include "nopal/config/environment.h"

#include <map>
#include <optional>
#include <utility>

#if NOPAL_HAVE_HWLOC
#include <hwloc.h>
#endif

namespace nopal::config {
namespace {

// The package and the core of a CPU. CPUs for which they are equal share one physical core.
using place = std::pair<int, int>;

// The core is named by its first CPU: core_id repeats from one die or cluster to the next.
std::optional<place> place_from_sysfs(int cpu, const std::string& root) {
  const std::string folder =
      root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  const std::string package = read_file(folder + "physical_package_id").text;
  std::string siblings = read_file(folder + "core_cpus_list").text;
  if (siblings.empty())
    siblings = read_file(folder + "thread_siblings_list").text; // kernels before 5.3
  const auto cores = parse_cpu_list(siblings);
  // Some virtual machines number their only package -1.
  const auto package_id = package == "-1" ? 0 : parse_decimal(package);
  if (!cores || !package_id || *package_id > 0x7fffffff)
    return std::nullopt;
  return place{static_cast<int>(*package_id), cores->front()};
}

#if NOPAL_HAVE_HWLOC
// hwloc's logical numbers follow the hierarchy of packages, caches and cores; a core's is unique in
// the machine. Nothing when hwloc does not know every CPU.
std::vector<place> places_from_hwloc(const std::vector<int>& affinity) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0)
    return {};
  const bool loaded = hwloc_topology_load(topology) == 0;
  std::vector<place> places;
  for (const int cpu : affinity) {
    hwloc_obj_t const unit =
        loaded ? hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(cpu)) : nullptr;
    hwloc_obj_t const core =
        unit ? hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit) : nullptr;
    if (core != nullptr)
      places.push_back({0, static_cast<int>(core->logical_index)});
  }
  hwloc_topology_destroy(topology);
  return places.size() == affinity.size() ? places : std::vector<place>();
}
#endif

} // namespace

std::vector<int> bind_order(const std::vector<int>& affinity, const std::string& root) {
  std::vector<place> places; // of the CPUs in `affinity`
#if NOPAL_HAVE_HWLOC
  if (root.empty())
    places = places_from_hwloc(affinity);
#endif
  while (places.size() < affinity.size()) {
    const std::optional<place> found = place_from_sysfs(affinity[places.size()], root);
    if (!found)
      return affinity;
    places.push_back(*found);
  }

  std::map<place, int> placed;
  std::map<std::pair<int, place>, int> sorted; // (round, place) to CPU
  for (std::size_t i = 0; i < affinity.size(); ++i)
    sorted[{placed[places[i]]++, places[i]}] = affinity[i];
  std::vector<int> order;
  for (const auto& [key, cpu] : sorted)
    order.push_back(cpu);
  return order;
}

int bind_thread(pthread_t thread, int cpu) {
  const auto index = static_cast<std::size_t>(cpu);
  std::vector<cpu_set_t> mask(index / CPU_SETSIZE + 1);
  const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
  CPU_SET_S(index, bytes, mask.data());
  return pthread_setaffinity_np(thread, bytes, mask.data());
}

} // namespace nopal::config
