// SPDX-License-Identifier: MIT
//
// What the program tells gdb's unwinder (x86_64_gdb.py), which reads memory and symbols only, so
// that a core file and a program without debugging information will do.
#pragma once

#include <cstdint>

namespace nopal::arch {

// Where the stacks lie: slots of equal size, each with its stack at the upper end.
struct gdb_range {
  std::uintptr_t base;
  std::uintptr_t bytes;
  std::uintptr_t slot_bytes;
};
extern "C" gdb_range nopal_gdb_range; // zeroes until the range is reserved

// The first frame on the empty stack below `top` lies on another stack, and calls with this stack
// pointer. The word at the top is free for this.
inline void tell_gdb(std::uintptr_t top, std::uintptr_t stack_pointer) noexcept {
  reinterpret_cast<std::uintptr_t*>(top)[-1] = stack_pointer;
}

} // namespace nopal::arch
