// SPDX-License-Identifier: MIT
// Decides which forks wait for a thief where steals are forced (sched/steal.cc).
//
// Beside other programs a thief may need long for a turn, and so may a thread that has given its
// own turn away to wait. Were each fork to wait then, a test would need many times as long as
// alone. So each wait that takes too long halves the share of forks that wait, down to one of 256,
// and each other one doubles it. Without other programs all forks wait.
//
// Ownership: its vproc's thread.
#pragma once

#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

class forced_waits {
public:
  // Called at a fork. Returns whether it waits; after the wait the caller calls `waited`.
  bool begin() noexcept {
    if (left_out_ == 0)
      return true;
    --left_out_;
    return false;
  }
  void waited(bool too_long) noexcept {
    between_ = too_long ? 2 * between_ + 1 : between_ / 2;
    if (between_ > most_between)
      between_ = most_between;
    left_out_ = between_;
  }

  static constexpr std::uint32_t most_between = 255;

private:
  std::uint32_t between_ = 0; // so many forks do not wait between two that do
  std::uint32_t left_out_ = 0;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
