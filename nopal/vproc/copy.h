// SPDX-License-Identifier: MIT
// What copies of Nopal in one process know of one another (sched/copies.h).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// It is read by copies of other versions, so what stands here keeps its place and meaning; more may
// follow.
struct copy {
  std::uint32_t protocol; // 1
  // The copy has started, and its file stays loaded.
  base::atomic<std::uint32_t> open;
  // There is one more copy. The other one is open.
  void (*meet)(copy* other) noexcept;
  // If the calling thread runs a strand of this copy, sets its worker aside, and returns true.
  bool (*set_aside)() noexcept;
  // On the same thread, where that returned true: the strand goes on.
  void (*go_on)() noexcept;
  // The lowest address of the calling thread's own stack; 0: not known to this copy.
  std::uintptr_t (*own_stack)() noexcept;
};
} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
