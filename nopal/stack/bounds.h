// SPDX-License-Identifier: MIT
// What a deque needs of stacks: their names and their bounds (stack.h).
#pragma once

#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack {

// A stack is named by its slot's lowest address; 0 is no stack.
using stack_id = std::uintptr_t;
inline constexpr stack_id no_stack = 0;

std::uintptr_t bottom(stack_id stack) noexcept; // the lowest address that may be used
// The lowest address of a fork's record. What is left below is for calls that do not fork.
std::uintptr_t lowest_fork(stack_id stack) noexcept;
// What any process adds to an address of the stack's strands to see what lies there (view.h). 0
// where workers are threads.
std::uintptr_t offset(stack_id stack) noexcept;

// The bounds as a type, so that a model can put others in their place.
struct bounds {
  static std::uintptr_t bottom(stack_id stack) noexcept { return stack::bottom(stack); }
  static std::uintptr_t lowest_fork(stack_id stack) noexcept { return stack::lowest_fork(stack); }
  static std::uintptr_t offset(stack_id stack) noexcept { return stack::offset(stack); }
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack
NOPAL_HIDDEN_END
