// SPDX-License-Identifier: MIT
// Libraries that a program loads amid a session.
#pragma once

#include "nopal/config.h"

#include <string>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Those that are loaded, from when this was made. Later ones have not been compared with those of
// other processes.
class loaded_libraries {
public:
  // Says so, once for each.
  void warn_of_new();

private:
  static std::vector<std::string> names();

  std::vector<std::string> known_ = names();
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
