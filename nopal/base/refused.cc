// SPDX-License-Identifier: MIT
//
// What the linked program shows of how it was compiled.
#include "nopal/base/refused.h"

extern "C" {
// Linked in for split stacks only, and for safe stacks only.
[[gnu::weak]] void __morestack(void);
[[gnu::weak]] void* __get_unsafe_stack_ptr(void);
}

namespace nopal::base {

bool splits_stacks() noexcept { return __morestack != nullptr; }

bool has_safe_stacks() noexcept { return __get_unsafe_stack_ptr != nullptr; }

} // namespace nopal::base
