// SPDX-License-Identifier: MIT
// What the system and the user say about adapters.
#include "nopal/process/transport/adapters.h"

#include "nopal/config/environment.h"
#include "nopal/process/transport/transport.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// Whether an adapter of this machine that accesses memory by itself is connected.
bool has_adapter() {
  constexpr const char* adapters = "/sys/class/infiniband";
  std::error_code none;
  for (const auto& each : std::filesystem::directory_iterator(adapters, none))
    for (const auto& port : std::filesystem::directory_iterator(each.path() / "ports", none))
      if (config::read_file((port.path() / "state").c_str()).text.find("ACTIVE") !=
          std::string::npos)
        return true;
  return false;
}

} // namespace

// UCX takes patterns for names too.
bool may_have_tcp(std::string_view transports) {
  constexpr std::string_view of_names = "abcdefghijklmnopqrstuvwxyz0123456789_:";
  do {
    const std::size_t end = std::min(transports.find(','), transports.size());
    const std::string_view each = transports.substr(0, end);
    if (each.empty() || each.find_first_not_of(of_names) != std::string_view::npos ||
        each == "all" || each.starts_with("tcp"))
      return true;
    transports.remove_prefix(std::min(end + 1, transports.size()));
  } while (!transports.empty());
  return false;
}

bool all_access_memory(group& all) {
  const char* const transports = config::variable(chosen_transports);
  const char own = (transports != nullptr ? !may_have_tcp(transports) : has_adapter()) ? 1 : 0;
  std::vector<char> of_all(all.size());
  all.all_gather(&own, of_all.data(), sizeof own);
  return std::ranges::count(of_all, 1) == static_cast<std::ptrdiff_t>(all.size());
}

} // namespace nopal::inline NOPAL_ABI::process
