// SPDX-License-Identifier: MIT
// What can be chosen for stacks, as options name it and the stack layer does it.
#pragma once

#include <cstddef>

namespace nopal::base {

// What happens to the pages of a stack that its worker left, or of which only the upper part is in
// use; and how many stacks there may be.
enum class stack_policy : unsigned char {
  keep,     // kept for the next use (nowa-ipdps21, section V-B)
  dontneed, // given back to the kernel at each suspension (fibril-spaa16, section 4.3)
  free,     // the same, but the kernel takes them only when it needs them (nowa-ipdps21, V-B)
  remap,    // replaced by a mapping of an empty file, and by fresh pages when the stack is used
            // again (fibril-spaa16, section 4.3, the first implementation)
  bounded,  // kept; a thief steals only while there is a stack for it (Cilk Plus)
  budget    // kept until they are more than a budget, which they never are: idle workers give them
            // back before, and if none is idle, whoever would exceed it
};
inline constexpr unsigned max_stacks_default = 2400; // Cilk Plus's (fibril-spaa16, section 5)
inline constexpr unsigned max_stacks_max = 16384;

inline constexpr std::size_t stack_budget_default = std::size_t{64} << 20;
inline constexpr std::size_t stack_budget_max = std::size_t{1} << 40;

// `max_stacks` counts under `bounded` only, `budget_bytes` under `budget`.
struct stack_rule {
  stack_policy policy;
  unsigned max_stacks = max_stacks_default;
  std::size_t budget_bytes = stack_budget_default;
};

} // namespace nopal::base
