// SPDX-License-Identifier: MIT
// Places each stack, scope and region below a node (join/descent.h), so that a walk down from what
// is cancelled finds the strands that wait:
//
//   a stack          after a steal: the scope whose main path runs on it; a first child's: what its
//                    fork is below, or that region; a fiber's: its cancelable, or what the caller
//                    of `run` is below
//   a stolen scope   its own region; else what its main path is below
//   a region         what the fork of its first child is below
//
// A strand on the stack on which a region's first child was forked is found by that address.
//
// Cost: where a strand waits, a look at a word of its stack. The first wait after a steal, of a
// region or in a computation walks up to the nearest node, through the open forks of one stack.
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"
#include "nopal/join/join.h"
#include "nopal/stack/stack.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {
class cancel_node;
}

namespace nopal::inline NOPAL_ABI::sched {

// Called before a strand of the stack waits, whose frames begin at `from`.
void place_stack(stack::stack_id on, std::uintptr_t from) noexcept;
// Called when the use of the stack ends, before others may end what is above it.
void displace_stack(stack::stack_id on) noexcept;

// The region's node, which is placed. `at` is an address on the stack of the region's main path,
// which a strand of the stack `on` sees (no_stack: the caller).
join::ancestor* placed_region(const join::region_frame* frame, std::uintptr_t at,
                              stack::stack_id on = stack::no_stack) noexcept;
// The same for a cancelable.
join::ancestor* placed_node(vproc::cancel_node* node) noexcept;

// The node above what is below two others, of which neither is below the other: the stack of a
// fiber with a cancelable, in a computation that lies in a region; a joint (vproc/cancel_node.h).
// Every walk looks below it, too.
join::ancestor& below_several() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
