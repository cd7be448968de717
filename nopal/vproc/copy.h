// SPDX-License-Identifier: MIT
// The descriptor by which copies of Nopal in one process know each other (sched/copies.h).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// Copies of other versions read this struct, so each field keeps its place and meaning, and new
// fields come last.
struct copy {
  std::uint32_t protocol; // 1
  // The copy has started, and its file stays loaded.
  base::atomic<std::uint32_t> open;
  // Makes another copy, which is open, known to this one.
  void (*meet)(copy* other) noexcept;
  // If the calling thread runs a strand of this copy, sets its worker aside, and returns true.
  bool (*set_aside)() noexcept;
  // Called on the same thread after set_aside returned true: the strand goes on.
  void (*go_on)() noexcept;
  // The lowest address of the calling thread's own stack; 0: not known to this copy.
  std::uintptr_t (*own_stack)() noexcept;
};
} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
