// SPDX-License-Identifier: MIT
// Finds the physical core of each CPU through hwloc or sysfs and spreads workers over the cores.
#include "nopal/config/topology.h"

#include "nopal/config/cpus.h"
#include "nopal/config/environment.h"

#include <map>
#include <optional>
#include <sched.h>
#include <tuple>
#include <utility>

#if NOPAL_HAVE_HWLOC
#include <hwloc.h>
#endif

namespace nopal::config {
namespace {

// Where a CPU sits. Equal (package, core) means that two CPUs share one physical core.
struct place {
  int cpu = 0;
  int package = 0;
  int core = 0;
};

std::vector<int> spread(const std::vector<place>& places) {
  std::map<std::pair<int, int>, int> placed_of_core;
  std::map<std::tuple<int, int, int>, int> sorted; // (round, package, core) to CPU
  for (const place& p : places) {
    const int round = placed_of_core[{p.package, p.core}]++;
    sorted[{round, p.package, p.core}] = p.cpu;
  }
  std::vector<int> order;
  for (const auto& [key, cpu] : sorted)
    order.push_back(cpu);
  return order;
}

// The core is named by its first CPU: core_id repeats from one die or cluster to the next.
std::optional<place> place_from_sysfs(int cpu, const std::string& root) {
  const auto first_line = [&](const char* name) {
    const std::string text =
        read_file(root, "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + name)
            .text;
    return text.substr(0, text.find('\n'));
  };
  const std::string package = first_line("physical_package_id");
  std::string siblings = first_line("core_cpus_list");
  if (siblings.empty())
    siblings = first_line("thread_siblings_list"); // kernels before 5.3
  const auto cores = parse_cpu_list(siblings);
  // Some virtual machines number their only package -1.
  const auto package_id = package == "-1" ? 0 : parse_decimal(package);
  if (!cores || !package_id || *package_id > 0x7fffffff)
    return std::nullopt;
  return place{cpu, static_cast<int>(*package_id), cores->front()};
}

#if NOPAL_HAVE_HWLOC
// hwloc's logical numbers follow the hierarchy of packages, caches and cores; a core's is unique in
// the machine. Nothing when hwloc does not know every CPU.
std::vector<place> places_from_hwloc(const std::vector<int>& affinity) {
  std::vector<place> places;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0)
    return places;
  const bool loaded = hwloc_topology_load(topology) == 0;
  for (const int cpu : affinity) {
    hwloc_obj_t const unit =
        loaded ? hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(cpu)) : nullptr;
    hwloc_obj_t const core =
        unit ? hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit) : nullptr;
    if (core == nullptr) {
      places.clear();
      break;
    }
    places.push_back({cpu, 0, static_cast<int>(core->logical_index)});
  }
  hwloc_topology_destroy(topology);
  return places;
}
#endif

} // namespace

std::vector<int> bind_order(const std::vector<int>& affinity, const std::string& root) {
  std::vector<place> places;
#if NOPAL_HAVE_HWLOC
  if (root == "/")
    places = places_from_hwloc(affinity);
  if (!places.empty())
    return spread(places);
#endif
  for (const int cpu : affinity) {
    const std::optional<place> found = place_from_sysfs(cpu, root);
    if (!found)
      return affinity;
    places.push_back(*found);
  }
  return spread(places);
}

int bind_thread(pthread_t thread, int cpu) {
  const auto index = static_cast<std::size_t>(cpu);
  std::vector<cpu_set_t> mask(index / CPU_SETSIZE + 1);
  const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
  CPU_SET_S(index, bytes, mask.data());
  return pthread_setaffinity_np(thread, bytes, mask.data());
}

} // namespace nopal::config
