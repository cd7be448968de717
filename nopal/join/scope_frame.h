// SPDX-License-Identifier: MIT
// What a scope holds in its function's frame, and a thunk in its own frame while its child runs.
//
// A scope is plain until it needs a slow path: until a fork of the scope is completed, a child
// fails, or exceptions are set aside. Then it is active: the low bits of its frame pointer say so,
// and it has a state (scope_state.h).
//
// Ownership of a scope_frame: the main path; while a fork of the scope is open, the owner of the
// deque that holds the fork, or a thief in the owner's name, under the deque's lock. Detached
// children access the state: its `join` and, under the failures' lock, its `failures`.
//
// Paper: fibril-spaa16, listing 2 (fibril_t); nowa-ipdps21, listing 4.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/failure.h"
#include "nopal/join/scope_state.h"
#include "nopal/stack/bounds.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

struct NOPAL_TYPE scope_frame : arch::context {
  // Does not initialise what activate() sets: this runs on every call of a function with a scope.
  [[gnu::always_inline]] scope_frame() noexcept { NOPAL_CHECK_ADDRESS(stack_pointer); }

  // The frame pointer of the function that declares the scope.
  std::uintptr_t base_of_frame() const noexcept { return frame_pointer & ~arch::frame_flags; }
  bool is_of(std::uintptr_t frame) const noexcept { return base_of_frame() == frame; }

  // The main path's stack pointer before the call of its last fork. Precondition: that fork is not
  // complete, so resume_at is the address of the word that the call has pushed.
  std::uintptr_t stack_pointer_of_fork() const noexcept {
    return reinterpret_cast<std::uintptr_t>(resume_at) + sizeof(void*);
  }

  // The fast path of a join is this test and one branch. In a cleanup it may give an old answer:
  // behind calls that throw, and behind what may throw too but cannot change the word (a pure
  // function; with -fnon-call-exceptions, a load), GCC may read the word before such a call
  // (-fgcse). Only those change it that end a join, and throw. So an old answer is `true`, and what
  // it leads to asks again, out of line.
  bool needs_join() const noexcept { return (frame_pointer & arch::frame_flags) != 0; }
  bool active() const noexcept { return (frame_pointer & kActive) != 0; }
  // Precondition: the scope is active, or it has forked and its last fork is not complete; or it is
  // cancelled, and forks no more. Where exceptions are uncaught, it is activated with their number.
  void activate(unsigned uncaught = 0) noexcept {
    if (active())
      return;
    stack_pointer = stack_pointer_of_fork();
    state_ = take_state();
    state_->uncaught = uncaught;
    frame_pointer |= kActive;
  }
  // Called by the main path after its join.
  void deactivate() noexcept {
    return_state(state_);
    frame_pointer &= ~kActive;
  }
  // Precondition: the scope is active.
  scope_state& state() noexcept { return *state_; }
  const scope_state& state() const noexcept { return *state_; }

  // The main path's exceptions are set aside while its continuation can be stolen (failure.h).
  bool exceptions_aside() const noexcept { return (frame_pointer & kExceptionsAside) != 0; }
  void note_exceptions_aside() noexcept { frame_pointer |= kExceptionsAside; }
  void forget_exceptions_aside() noexcept { frame_pointer &= ~kExceptionsAside; }

  // The control words in the state belong to this strand: they differ from its group's.
  void note_own_control() noexcept { frame_pointer |= kOwnControl; }
  bool take_own_control() noexcept {
    const bool own = (frame_pointer & kOwnControl) != 0;
    frame_pointer &= ~kOwnControl;
    return own;
  }

  // The least order of the failures so far (failure.h), while the scope is active. Any strand of
  // the scope may call both. `note_failure` returns whether this order is the least.
  std::int64_t first_failure() const noexcept { return state_->first_failure.load(base::relaxed); }
  bool note_failure(std::int64_t order) noexcept {
    std::int64_t least = first_failure();
    while (order < least)
      if (state_->first_failure.compare_exchange_weak(least, order, base::relaxed, base::relaxed))
        return true;
    return false;
  }
  // For the main path: a child has failed, and what it forks from now on comes serially after that.
  bool overtaken() const noexcept { return active() && first_failure() != no_failure; }

  // While the scope is active: what its strands have added to reducers.
  partials_list& partial() noexcept { return state_->partial; }

  // While the scope is active: the node of what comes after its first steal, and whether its
  // children are of a region.
  ancestor& below() noexcept { return state_->below; }
  bool is_of_region() const noexcept { return state_->of_region; }

  // How many exceptions are uncaught where the scope forks. `state` has it where a fork is public.
  unsigned uncaught() const noexcept { return active() ? state_->uncaught : 0; }

  bool is_structured() const noexcept { return active() && state_->structured; }

  // How often the main path was stolen since the last join.
  NOPAL_OWN std::int64_t steals() const noexcept { return active() ? state_->join.steals() : 0; }
  // Called when the main path has just been stolen, before it goes on.
  void note_stolen() noexcept { state_->join.count_steal(); }

private:
  scope_state* state_;

  static constexpr std::uintptr_t kActive = 1;
  static constexpr std::uintptr_t kExceptionsAside = 2;
  static constexpr std::uintptr_t kOwnControl = 4;
  static_assert((kActive | kExceptionsAside | kOwnControl) == arch::frame_flags);
};

// What stops with a failed or cancelled child, besides the children that come after it.
enum class NOPAL_TYPE fork_kind : std::uintptr_t {
  plain,      // nothing else
  structured, // a failure stops the main path, too, up to the join: its code is Nopal's (invoke.h)
  region,     // the frame is a region_frame, whose node can cancel all children
  into_place, // plain; the word behind the frame says where the child's result goes (nopal/c)
};

// The record of an open fork. Its first word belongs to the deque (stack/marks.h).
struct fork_record {
  using frame_type = scope_state;

  std::uintptr_t mark;
  std::uintptr_t scope_and_kind;
  std::int64_t steals_before; // set by complete(): orders failures serially
  failure* failed;            // set when the child throws

  [[gnu::always_inline]] explicit fork_record(scope_frame* forking,
                                              fork_kind kind = fork_kind::plain) noexcept
      : scope_and_kind{reinterpret_cast<std::uintptr_t>(forking) +
                       static_cast<std::uintptr_t>(kind)} {
    base::note_fork(this, forking);
  }

  scope_frame* scope() const noexcept {
    return reinterpret_cast<scope_frame*>(scope_and_kind & ~std::uintptr_t{3});
  }
  fork_kind kind() const noexcept { return static_cast<fork_kind>(scope_and_kind & 3); }
  // Makes the frame ready to be resumed (stack_map.h). The record's strand runs on the stack `on`;
  // no_stack: it is the caller. Preconditions, checked: the scope is a local variable of the
  // function that forks it, and scopes of a function are nested.
  scope_state* complete(std::uintptr_t taken_above, stack::stack_id on = stack::no_stack) noexcept;
};

static_assert(offsetof(fork_record, mark) == 0);

// How others name a main path that they may not see (stack/view.h).
inline scope_state* name_of(scope_frame* scope) noexcept { return &scope->state(); }
inline scope_frame* scope_of(const scope_state* named) noexcept { return named->scope; }
inline frame_place place_of(const scope_state* named) noexcept { return named->frame; }

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
