// SPDX-License-Identifier: MIT
// What a strand stands in: the forks above it, through all stacks, up to where its thread began.
//
// Nothing is kept for this while strands run. The open forks of a stack are found in the stack
// (stack/marks.h), and each stack says where all that runs on it comes from:
//
//   a steal          the main path of a scope, whose frame lies on another stack, runs here
//   a first child    of a group: its fork lies on another stack
//   a fiber          which belongs to a computation, whose caller waits on another stack
//
// A strand is to stop if a fork that it stands in is of a region that is cancelled, or has failed
// serially before; or if its fiber is cancelled; or if it is the main path of a structured scope of
// which a child has failed. What a shielded fork stands in does not count. All frames above a
// strand's own live as long as the strand, so the walk reads nothing that may end.
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
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

using vproc::fiber_context;

struct origin {
  enum class kind : std::uint8_t { steal, first_child, fiber };
  kind what;
  // All strands of the stack are to stop. Set by them: others read it, too.
  base::flag stopped;
  fiber_context* context; // what the strands share with their fiber; null: nothing
  union {
    scope_frame* stolen = nullptr; // whose main path it is
    const fork_record* fork;       // of the first child
  };
  worker* holder = nullptr;    // in whose deque the forks around that one are open
  std::uintptr_t stops_at = 0; // of the strand: a fork on this stack that is cancelled, or 0
};

// Where a strand of the stack can be found while it waits.
sync::wait_word& wait_word_of(stack::stack_id of) noexcept;

// The stack is about to be used, by what comes from there.
void set_origin(stack::stack_id of, const scope_frame* stolen) noexcept;
void set_origin(stack::stack_id of, const fork_record* first_child, worker* outer) noexcept;
void set_origin(stack::stack_id of, fiber_context* begins) noexcept;
// The fiber that began there has been destroyed; the rest of its stack's run belongs to none.
void forget_context(stack::stack_id of) noexcept;

// What the strands of the stack, or the one at this address, share with their fiber. Null: nothing,
// or the stack is not ours.
fiber_context* context_of(stack::stack_id of) noexcept;
fiber_context* context_at(std::uintptr_t stack_pointer) noexcept;
// The calling strand's; null: it is in no computation, or the caller is no strand.
fiber_context* current_context() noexcept;

// Whether the strand whose frames begin at this address is to stop. `holder` has its open forks;
// null: it has none that are private.
bool is_to_stop(std::uintptr_t from, worker* holder) noexcept;

// The fork is of a region that is cancelled itself.
bool in_cancelled_region(const fork_record* fork) noexcept;

// A scope that shields its children (region_frame) is open from here to there.
void note_shield_begins() noexcept;
void note_shield_ends() noexcept;

// The regions that the strand whose frames begin at this address stands in, up to the nearest
// shield; the innermost first.
std::vector<const join::cancelable*> regions_above(std::uintptr_t from);

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
