// SPDX-License-Identifier: MIT
// view.cc asks whether this file is part of the program.
#include "nopal/stack/plain.h"

const char nopal_plain_stacks = 1;

namespace nopal::stack {

void need_plain_stacks() noexcept {}

} // namespace nopal::stack
