// SPDX-License-Identifier: MIT
// The processes of a program, as far as a transport has to know them before it connects them.
#pragma once

#include "nopal/config.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class group {
public:
  virtual ~group() = default;
  group() = default;
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  virtual unsigned rank() const noexcept = 0;
  virtual unsigned size() const noexcept = 0;

  // Collective: `all` receives the `bytes` bytes of each process, in the order of ranks.
  virtual void all_gather(const void* own, void* all, std::size_t bytes) = 0;
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
