// SPDX-License-Identifier: MIT
// Finds the physical core of each CPU through hwloc or sysfs and spreads workers over the cores.
#include "nopal/config/topology.h"

#include "nopal/base/die.h"
#include "nopal/config/cpus.h"
#include "nopal/config/environment.h"

#include <cerrno>
#include <cstring>
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
  for (const auto& [key, cpu] : sorted) {
    order.push_back(cpu);
  }
  return order;
}

std::string_view first_line(const std::string& text) {
  return std::string_view(text).substr(0, text.find('\n'));
}

// The core is named by its first CPU: core_id repeats from one die or cluster to the next.
std::optional<place> place_from_sysfs(int cpu, const std::string& root) {
  const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  const auto package = read_file(root, folder + "physical_package_id").text;
  auto siblings = read_file(root, folder + "core_cpus_list").text;
  if (siblings.empty()) {
    siblings = read_file(root, folder + "thread_siblings_list").text; // kernels before 5.3
  }
  const auto cores = parse_cpu_list(first_line(siblings));
  // Some virtual machines number their only package -1.
  const bool no_package = first_line(package) == "-1";
  const auto package_id = no_package ? 0 : parse_decimal(first_line(package));
  if (!cores || !package_id || *package_id > 0x7fffffff) {
    return std::nullopt;
  }
  return place{cpu, static_cast<int>(*package_id), cores->front()};
}

cpu_order order_from_sysfs(const std::vector<int>& affinity, const std::string& root) {
  std::vector<place> places;
  for (const int cpu : affinity) {
    const std::optional<place> found = place_from_sysfs(cpu, root);
    if (!found) {
      return {affinity,
              "plain order, because /sys does not tell the core of CPU " + std::to_string(cpu)};
    }
    places.push_back(*found);
  }
  return {spread(places), "cores as in /sys"};
}

#if NOPAL_HAVE_HWLOC
// hwloc's logical numbers follow the hierarchy of packages, caches and cores; a core's is unique in
// the machine.
std::optional<cpu_order> order_from_hwloc(const std::vector<int>& affinity) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) {
    return std::nullopt;
  }
  std::vector<place> places;
  if (hwloc_topology_load(topology) == 0) {
    for (const int cpu : affinity) {
      hwloc_obj_t const unit = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(cpu));
      hwloc_obj_t const core = unit == nullptr
                                   ? nullptr
                                   : hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
      if (core == nullptr) {
        break;
      }
      places.push_back({cpu, 0, static_cast<int>(core->logical_index)});
    }
  }
  hwloc_topology_destroy(topology);
  if (places.size() != affinity.size()) {
    return std::nullopt;
  }
  return cpu_order{spread(places), "cores as hwloc sees them"};
}
#endif

} // namespace

cpu_order bind_order(const std::vector<int>& affinity, const std::string& root) {
#if NOPAL_HAVE_HWLOC
  if (root == "/") {
    if (std::optional<cpu_order> order = order_from_hwloc(affinity)) {
      return *std::move(order);
    }
    cpu_order order = order_from_sysfs(affinity, root);
    order.source += " (hwloc does not know every CPU)";
    return order;
  }
#endif
  return order_from_sysfs(affinity, root);
}

bool bind_this_thread(int cpu) {
  int error = EINVAL;
  if (cpu >= 0) {
    const auto index = static_cast<std::size_t>(cpu);
    std::vector<cpu_set_t> mask(index / CPU_SETSIZE + 1);
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    CPU_SET_S(index, bytes, mask.data());
    error = sched_setaffinity(0, bytes, mask.data()) == 0 ? 0 : errno;
  }
  if (error != 0) {
    base::say("a worker cannot be bound to CPU %d (%s)", cpu, std::strerror(error));
  }
  return error == 0;
}

} // namespace nopal::config
