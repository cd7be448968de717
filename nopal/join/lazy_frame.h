// SPDX-License-Identifier: MIT
//
// What a scope holds in its function's frame, and what a thunk holds in its own while its child
// runs.
//
// Ownership of a scope_frame: the main path, that is, the strand that forks and joins; while an
// offer of the frame is open, the owner of the deque that holds it (and a thief in its name, under
// the deque's lock). Detached children touch `join` and, under the failures' lock, `failures`.
//
// A scope is plain until a slow path has to do with it: until an offer of it becomes public, or a
// child fails. Then it is touched: the low bits of its frame pointer say so, and all the fields
// behind the context are valid.
//
// Paper: fibril-spaa16, listing 2 (fibril_t); nowa-ipdps21, listing 4.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/failure.h"
#include "nopal/join/wait_free.h"
#include "nopal/stack/stack.h"

#include <cstddef>
#include <cstdint>
#include <new>

namespace nopal::inline NOPAL_ABI::join {

struct scope_frame : arch::context {
  // Leaves alone what touch() sets: this runs on every call of a function with a scope.
  [[gnu::always_inline]] scope_frame() noexcept {}

  union {
    wait_free join;
  };
  std::uintptr_t stolen_at;   // the main path's stack pointer since the last steal
  std::uintptr_t taken_above; // the lowest offer above the frame on its own stack that is taken
                              // (both valid if steals() > 0)
  failure* failures;
  exception_state exceptions; // of the main path while it is suspended at a join or set aside
  int error;                  // its errno while it is suspended

  // The frame pointer of the function that declares the scope.
  std::uintptr_t base_of_frame() const noexcept { return frame_pointer & ~arch::frame_flags; }
  bool is_of(std::uintptr_t frame) const noexcept { return base_of_frame() == frame; }

  // The join has something to do. The fast path of a join is this test and one branch.
  bool needs_join() const noexcept { return (frame_pointer & arch::frame_flags) != 0; }
  bool active() const noexcept { return (frame_pointer & kActive) != 0; }
  void activate() noexcept {
    if (active())
      return;
    new (&join) wait_free;
    failures = nullptr;
    frame_pointer |= kActive;
  }
  // After a join: no child is left, nor a failure of one.
  void deactivate() noexcept { frame_pointer &= ~kActive; }

  // The main path's exceptions are set aside while its continuation is offered (failure.h).
  bool exceptions_aside() const noexcept { return (frame_pointer & kExceptionsAside) != 0; }
  void note_exceptions_aside() noexcept { frame_pointer |= kExceptionsAside; }
  void forget_exceptions_aside() noexcept { frame_pointer &= ~kExceptionsAside; }

  // How often the main path was stolen since the last join.
  std::int64_t steals() const noexcept { return active() ? join.steals() : 0; }
  // A thief, for the main path that it has just stolen.
  void note_stolen() noexcept { join.count_steal(); }

private:
  static constexpr std::uintptr_t kActive = 1;
  static constexpr std::uintptr_t kExceptionsAside = 2;
  static_assert((kActive | kExceptionsAside) == arch::frame_flags);
};

// An open offer. Its first word belongs to the deque while it is open (stack/marks.h).
struct fork_record {
  using frame_type = scope_frame;

  std::uintptr_t mark;
  scope_frame* scope;
  std::int64_t steals_before; // set before it is public: orders failures serially
  failure* failed;            // set when the child throws

  [[gnu::always_inline]] explicit fork_record(scope_frame* of) noexcept : scope{of} {
    base::note_fork(this, of);
  }

  scope_frame* frame() const noexcept { return scope; }
  // Makes the frame ready to be resumed. Ends the program with a sentence if the scope is misused
  // in a way that a steal would turn into a crash.
  void complete(std::uintptr_t taken_above) noexcept;
};

static_assert(offsetof(fork_record, mark) == 0);

} // namespace nopal::inline NOPAL_ABI::join
