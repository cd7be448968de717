// SPDX-License-Identifier: MIT
// What the dynamic linker has loaded.
#include "nopal/process/run/libraries.h"

#include "nopal/base/die.h"

#include <algorithm>
#include <link.h>
#include <utility>

namespace nopal::inline NOPAL_ABI::process {

std::vector<std::string> loaded_libraries::names() {
  std::vector<std::string> all;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
        return 0;
      },
      &all);
  return all;
}

void loaded_libraries::warn_of_new() {
  std::vector<std::string> all = names();
  for (const std::string& each : all)
    if (std::ranges::count(known_, each) == 0)
      base::say("%s was loaded after the session had begun, so it may lie elsewhere in each "
                "process: no function that it calls may spawn or join, and no task may keep an "
                "address in it across a spawn or a join; load it before the session",
                each.c_str());
  known_ = std::move(all);
}

} // namespace nopal::inline NOPAL_ABI::process
