// SPDX-License-Identifier: MIT
// How the slow paths call the body of a child, whose type only its thunk knows (thunk.h).
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// Runs the child's body, or destroys it without running it. Either may throw.
struct body_calls {
  void (*run)(void* closure);
  void (*drop)(void* closure);
};

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
