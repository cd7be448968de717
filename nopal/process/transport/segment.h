// SPDX-License-Identifier: MIT
// The frames of one task, from its context up to those of its parent.
#pragma once

#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Addresses of frames, as distances from the lower end of the region.
struct segment {
  std::uint32_t lower;
  std::uint32_t upper;

  std::uint32_t size() const noexcept { return upper - lower; }
  std::uint64_t packed() const noexcept { return lower | std::uint64_t{upper} << 32; }
  static segment unpacked(std::uint64_t both) noexcept {
    return {static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> 32)};
  }
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
