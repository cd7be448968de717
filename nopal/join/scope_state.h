// SPDX-License-Identifier: MIT
// What a scope needs once a fork of it is completed, a child fails, or exceptions are set aside.
// Most scopes never do, so it does not lie in their frames, but comes from a list of free states.
//
// A state belongs to a scope from its activation to the end of its join; scope_frame.h says which
// thread may touch which part. It has 192 bytes, which are kept for later scopes: memory grows with
// the largest number of scopes that were active at a time.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/join/descent.h"
#include "nopal/join/failure.h"
#include "nopal/join/partials.h"
#include "nopal/join/strand_state.h"
#include "nopal/join/wait_free.h"
#include "nopal/stack/bounds.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

inline constexpr std::int64_t no_failure = INT64_MAX;

struct scope_frame;

// Where the frame of a scope's function lies.
struct frame_place {
  stack::stack_id home = stack::no_stack; // no_stack: on none of ours
  std::uintptr_t low = 0;                 // its lowest byte
};

struct alignas(64) scope_state {
  base::atomic<std::uint32_t> next_free; // first: base/free_list.h
  wait_free join;
  // Written when a fork is completed, for a thief that does not see the scope yet (stack/view.h).
  scope_frame* scope;
  frame_place frame;
  std::uintptr_t stolen_at;   // the main path's stack pointer since the last steal
  std::uintptr_t taken_above; // the lowest fork above the frame on its own stack that is taken
                              // (both valid if steals() > 0)
  failure* failures;
  // The least order of a failed child (failure.h). Any child that fails may lower it; strands
  // behind that child read it, and stop. Relaxed: what it guards is read after the join.
  base::atomic<std::int64_t> first_failure;
  std::uint32_t stops;   // how often strands behind a failed child were told; under failures' lock
  bool structured;       // set when a fork is completed (fork_kind)
  unsigned uncaught;     // exceptions, where the scope forks; constant while it is active
  bool of_region;        // set before the first steal
  std::uint32_t made_in; // the process in which a scope took it (base/child.h)
  partials_list partial; // of strands that have ended or wait, until the main path goes on
  ancestor below;        // the stacks of the thieves that had the main path, and what is below them
  // The main path's state while that is suspended. While it runs, its exceptions lie here if they
  // are set aside, and its control words if it has forked with words of its own.
  strand_state strand;
};

// Called once, before the first fork. Reserves addresses; a state takes memory at its first use.
void open_states() noexcept;

// Any thread may call these, also under a deque's lock: they do not allocate. If all states are in
// use, the program ends with a message.
scope_state* take_state() noexcept;
void return_state(scope_state* unused) noexcept;

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
