// SPDX-License-Identifier: MIT
// view.cc asks whether this file is part of the program.
#include "nopal/stack/plain.h"

// Users name it, so it has no version: where several versions are linked together, each defines it.
#pragma weak nopal_plain_stacks
const char nopal_plain_stacks = 1;

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack {

void need_plain_stacks() noexcept {}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack
