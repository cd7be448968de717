// SPDX-License-Identifier: MIT
// What happens at a system call that the filter traps, and which calls these are.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <signal.h>
#include <span>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

// The handler of SIGSYS. The signal means a trapped call, or that this process must catch up with
// the log.
void on_trap(int signal, siginfo_t* info, void* context);

struct call;
struct trapped {
  int number;
  // What stands for the call; nothing: it is made as its arguments say then.
  std::optional<long> (*by)(call& made) noexcept;
  // What the filter asks of the lower half of an argument, in its code (0: nothing); or `unless`.
  struct {
    unsigned argument = 0;
    std::uint16_t test = 0;
    std::uint32_t value = 0;
    bool unless = false;
  } when = {};
  // Of calls that the first process makes: which argument points to what the kernel reads, and
  // which to what it writes; -1: none.
  int in = -1;
  std::size_t in_bytes = 0;
  int out = -1;
  std::size_t out_bytes = 0;
};
// All but those that are refused.
std::span<const trapped> trapped_calls() noexcept;

// What the filter hands over with a trap, so that it is known from other signals.
inline constexpr int trap_mark = 0x4e50;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
