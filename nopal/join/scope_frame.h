// SPDX-License-Identifier: MIT
//
// What a scope holds in its function's frame, and what a thunk holds in its own while its child
// runs.
//
// Ownership of a scope_frame: the main path, that is, the strand that forks and joins; while an
// offer of the frame is open, the owner of the deque that holds it (and a thief in its name, under
// the deque's lock). Detached children touch `join` and, under the failures' lock, `failures`.
//
// Paper: fibril-spaa16, listing 2 (fibril_t); nowa-ipdps21, listing 4.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/sanitizer.h"
#include "nopal/join/failure.h"
#include "nopal/join/wait_free.h"

#include <cstddef>
#include <cstdint>

namespace nopal::join {

struct scope_frame : arch::context {
  wait_free join;

  // From here on set by slow paths only; the constructor leaves these alone, it runs on every call.
  std::uintptr_t stolen_at;   // the main path's stack pointer since the last steal
  std::uintptr_t taken_above; // the lowest offer above the frame on its own stack that is taken
                              // (both valid if steals() > 0)
  failure* failures;          // valid if an offer was sealed or a failure noted
  exception_state exceptions; // of the main path while it is suspended at a join

  // The stack pointer with which the main path last ran in this frame.
  std::uintptr_t running_at() const noexcept {
    return join.steals() == 0 ? stack_pointer : stolen_at;
  }
};

// An open offer. Its first word belongs to the deque while it is open (stack/marks.h).
struct offer {
  using frame_type = scope_frame;

  std::uintptr_t mark;
  scope_frame* scope;
  std::int64_t steals_before; // set by seal: orders failures serially
  failure* failed;            // set when the child throws

  [[gnu::always_inline]] explicit offer(scope_frame* of) noexcept : scope{of} {
    base::note_fork(this, of);
  }

  scope_frame* frame() const noexcept { return scope; }
  // Ends the program with a sentence if the scope is misused in a way that a steal would turn into
  // a crash.
  void seal(std::uintptr_t taken_above) noexcept;
};

static_assert(offsetof(offer, mark) == 0);

} // namespace nopal::join
