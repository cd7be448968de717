// SPDX-License-Identifier: MIT
// A small random number generator for choosing victims: xorshift64*, one word of state.
#pragma once

#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

class random {
public:
  // Different streams of one seed are independent enough to choose victims. The state is never 0.
  void reseed(std::uint64_t seed, std::uint64_t stream) noexcept {
    std::uint64_t mixed = seed + 0x9e3779b97f4a7c15u * (stream + 1);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    state_ = (mixed ^ (mixed >> 31)) | 1u;
  }

  // A number below `bound`, which must not be zero.
  std::uint32_t below(std::uint32_t bound) noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((((state_ * 0x2545f4914f6cdd1du) >> 32) * bound) >> 32);
  }

private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15u;
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
