// SPDX-License-Identifier: MIT
// What a scope needs once a fork of it is completed, a child fails, or exceptions are set aside.
// Most scopes never do, so it does not lie in their frames, but comes from a list of free states.
//
// A state belongs to a scope from its activation to the end of its join (scope_frame.h),
// which says which thread may touch which part. Memory: a state of 128 bytes for each active scope,
// at most as many as there were at a time. It is not given back.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/join/failure.h"
#include "nopal/join/strand_state.h"
#include "nopal/join/wait_free.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

inline constexpr std::int64_t no_failure = INT64_MAX;

struct alignas(64) scope_state {
  base::atomic<std::uint32_t> next_free; // first: base/free_list.h
  wait_free join;
  std::uintptr_t stolen_at;   // the main path's stack pointer since the last steal
  std::uintptr_t taken_above; // the lowest fork above the frame on its own stack that is taken
                              // (both valid if steals() > 0)
  failure* failures;
  // The least order of a child that has failed (failure.h). Any failing child writes it; strands
  // that stand after that child read it, to stop. Relaxed: what it guards is read after the join.
  base::atomic<std::int64_t> first_failure;
  std::uint32_t stops; // how often strands behind a failed child were told; failures' lock
  bool structured;     // set when a fork is completed (fork_kind)
  unsigned uncaught;   // exceptions, where the scope forks: constant while it is active
  // Of the main path while it is suspended. Its exceptions are there also when they are set aside,
  // and its control words when it forks with words of its own.
  strand_state strand;
};

// Before the first fork. Maps room for the states; none takes memory before it is used.
void open_states() noexcept;

// Any thread, also under a deque's lock: no allocation. Ends the program if all are in use.
scope_state* take_state() noexcept;
void return_state(scope_state* unused) noexcept;

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
