// SPDX-License-Identifier: MIT
// What a strand takes along when it leaves its thread, beside its registers and its stack: the C++
// runtime's exception state, errno, and the floating-point control words.
//
// Invariant: while a strand runs, this is its thread's state; else it lies in one scope_state or
//            one fiber. vproc/strand.h moves it.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/config.h"
#include "nopal/join/failure.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

struct strand_state {
  exception_state exceptions{};
  int error = 0;
  arch::control_words control{}; // valid if the strand has words of its own, not its group's
};

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
