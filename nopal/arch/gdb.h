// SPDX-License-Identifier: MIT
// What the program tells gdb's unwinder (x86_64_gdb.py). The unwinder reads memory and symbols
// only, so it works for a core file too, and without debugging information.
#pragma once

#include "nopal/arch/names.h"
#include "nopal/arch/offsets.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch {

// Where the stacks lie: in slots of equal size, each stack at the upper end of its slot.
struct gdb_range {
  std::uintptr_t base;
  std::uintptr_t bytes;
  std::uintptr_t slot_bytes;
};
static_assert(sizeof(gdb_range) == 8 * NOPAL_GDB_RANGE_WORDS && offsetof(gdb_range, base) == 0 &&
              offsetof(gdb_range, bytes) == 8); // of the script
extern "C" gdb_range nopal_gdb_range;           // zeroes until the range is reserved

// Notes in the highest word below `top` that a function whose frame lies on another stack is about
// to call from this empty stack, with this stack pointer.
inline void tell_gdb(std::uintptr_t top, std::uintptr_t stack_pointer) noexcept {
  reinterpret_cast<std::uintptr_t*>(top)[-1] = stack_pointer;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch
NOPAL_HIDDEN_END
