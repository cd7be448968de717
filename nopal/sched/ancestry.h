// SPDX-License-Identifier: MIT
// The ancestry of a strand: the forks above it, through all stacks, up to where its thread began.
//
// Nothing is kept for this while strands run. The open forks of a stack are found in the stack
// (stack/marks.h), and each stack has the origin of the strands that run on it:
//
//   a steal          the main path of a scope, whose frame lies on another stack
//   a first child    of a group: its fork lies on another stack
//   a fiber          which belongs to a computation, whose caller waits on another stack
//
// A strand is to stop if
//   - a fork above it is of a region that is cancelled, or comes serially after a failed child;
//   - its fiber is cancelled, or the function has thrown that the fiber's `run` was given;
//   - it is the main path of a structured scope of which a child has failed.
// Forks above a shield do not count. Neither do those above a destructor that an exception runs:
// what is thrown there must not leave it. A strand is in no such destructor below a fork if it has
// as many uncaught exceptions as the fork's scope had. Children have as many as their parents.
//
// All frames above a strand's own live as long as the strand, so the walk reads nothing that may
// end.
//
// Paper: manticore-icfp08, section 6.1, where each fiber has a pointer to its cancelable.
#pragma once

#include "nopal/base/flag.h"
#include "nopal/config.h"
#include "nopal/join/cancelable.h"
#include "nopal/sched/step.h"
#include "nopal/sync/wait_word.h"
#include "nopal/vproc/computation.h"

#include <cstdint>
#include <exception>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

using vproc::fiber_context;

struct origin {
  enum class kind : std::uint8_t { steal, first_child, fiber };
  kind tag;
  // All strands of the stack are to stop. One of them sets it; any thread reads it.
  base::flag stopped;
  fiber_context* context; // what the strands share with their fiber; null: nothing
  union {
    scope_frame* stolen = nullptr; // a steal: the scope whose main path runs on the stack
    const fork_record* fork;       // a first child's
  };
  worker* holder = nullptr;    // the worker in whose deque the forks around `fork` are open
  std::uintptr_t stops_at = 0; // a fork on this stack that stopped a strand below it, or 0
};

const origin& origin_of(stack::stack_id stack) noexcept;
// The stack among what is below the node that it is placed below (descent.h).
join::descendant& descendant_of(stack::stack_id stack) noexcept;
stack::stack_id stack_of(const join::descendant* below) noexcept;
// The word in which a canceller finds a strand of this stack while it waits.
sync::wait_word& wait_word_of(stack::stack_id stack) noexcept;

// Called before a stack is used: all that will run on it comes from there.
void set_origin(stack::stack_id stack, const scope_frame* stolen) noexcept;
void set_origin(stack::stack_id stack, const fork_record* first_child, worker* outer) noexcept;
void set_origin(stack::stack_id stack, fiber_context* begins) noexcept;
// Called when the fiber that began on the stack is destroyed: what still runs there is no fiber's.
void forget_context(stack::stack_id stack) noexcept;

// The context of the fiber whose strands run on this stack, or on the stack at this address. Null:
// they are in no fiber, or the stack is not ours.
fiber_context* context_of(stack::stack_id stack) noexcept;
fiber_context* context_at(std::uintptr_t stack_pointer) noexcept;
// Whether the fiber is to stop for itself, wherever its computation lies.
bool is_cancelled(const fiber_context* context) noexcept;
// The calling strand's context; null: it is in no computation, or the caller is no strand.
fiber_context* current_context() noexcept;

// A strand, as the walk sees it: where its frames begin; the worker with its open forks (null: none
// of them is private); how many exceptions are uncaught in it; and the stack that it runs on, of a
// strand that is not the caller (stack/view.h).
struct strand_at {
  std::uintptr_t from;
  worker* holder;
  unsigned uncaught;
  stack::stack_id on = stack::no_stack;
};
// The calling strand.
strand_at this_strand() noexcept;

// Whether the strand is to stop.
bool is_to_stop(strand_at strand) noexcept;

// Called around the life of a scope that shields its children (region_frame).
void note_shield_begins() noexcept;
void note_shield_ends() noexcept;

// The regions and cancelables that would stop the strand if they were cancelled, the innermost
// first.
std::vector<const join::cancelable*> nodes_above(strand_at strand);
// The reason of the innermost node that stops the strand and has a reason; null: none has.
std::exception_ptr reason_above(strand_at strand) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
