// SPDX-License-Identifier: MIT
// Programs whose strands reach frames of their cousins: through a list that is not ours, as the
// callbacks of a stop token are, or where they submit work. The linker takes plain.cc from the
// library if the program may call `need_plain_stacks`, or is linked with -u nopal_plain_stacks.
// Then no stack lies in a view.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
extern "C" const char nopal_plain_stacks;

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack {

// Any thread. It does nothing: that it may be called decides.
void need_plain_stacks() noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack
NOPAL_HIDDEN_END
