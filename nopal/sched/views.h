// SPDX-License-Identifier: MIT
// What a process must see of the stacks before it runs a strand (stack/view.h). Where workers are
// threads all this does nothing.
//
// A strand sees its own stack and those above it. Strands of a fiber see, besides their plain
// stacks, what the caller of `run` sees: the fiber's function may refer to the caller's variables.
//
// Called on a stack that is on no view, or whose frames stay as they are.
#pragma once

#include "nopal/config.h"
#include "nopal/sched/step.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/computation.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// For a strand on this empty stack that goes on with the frame, as a thief's, or begins below it.
void see_below(join::frame_place frame, stack::stack_id empty) noexcept;
// For a main path after its join.
void see_joined(join::frame_place frame) noexcept;
// For a strand of this fiber (null: of none) that begins, or goes on, on this stack.
void see(stack::stack_id stack, const vproc::fiber_context* context) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
