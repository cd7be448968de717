// SPDX-License-Identifier: MIT
// The part of a worker (worker.h) that every fork touches: its deque, and where the exception state
// of its thread is. It stands apart so that a program that forks compiles no more than this.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/config.h"
#include "nopal/join/join.h"

#include NOPAL_DEQUE_HEADER

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

using deque_type = deque::NOPAL_DEQUE<join::fork_record>;

struct worker_deque : arch::runner {
  // The exception state of its vproc's thread. Every fork tests it, and takes the slow path if it
  // is alive; so for a strand with control words of its own another one stands here.
  const join::exception_state* exceptions = &join::no_exceptions;

  deque_type deque;
};

// The deque of the calling thread's worker.
[[gnu::always_inline]] inline worker_deque* current_deque() noexcept {
  return static_cast<worker_deque*>(arch::current());
}

// Pops from the current worker's deque.
[[gnu::always_inline]] inline bool pop(join::fork_record* newest) noexcept {
  return deque_type::pop(newest, []() -> deque_type& { return current_deque()->deque; });
}

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
