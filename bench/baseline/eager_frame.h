// SPDX-License-Identifier: MIT
// What a scope and a thunk hold if every fork is public at once. No slow path runs before a thief
// comes, so the scope's constructor sets the join's state, and each stub loads its return address.
// The rest is as in nopal/join/scope_frame.h.
//
// Paper: fibril-spaa16, listing 2 (fibril_t); nowa-ipdps21, listing 4.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/child.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/descent.h"
#include "nopal/join/failure.h"
#include "nopal/join/partials.h"
#include "nopal/join/strand_state.h"
#include "nopal/stack/bounds.h"
#include NOPAL_JOIN_HEADER

#include <cstddef>
#include <cstdint>
#include <limits>

#undef NOPAL_RECORD_RETURN
#define NOPAL_RECORD_RETURN "movq (%%rsp), %%rax\n\tmovq %%rax, 0(%%rdi)\n\t"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

// A join in which a thief counts its steal while the thief holds the deque's lock.
template <class Join>
concept counted_under_deque_lock = requires { Join::counts_under_deque_lock; };

inline constexpr std::int64_t no_failure = std::numeric_limits<std::int64_t>::max();
enum class fork_kind : std::uintptr_t { plain, structured, region };

struct scope_state {
  NOPAL_JOIN join;
  std::uintptr_t stolen_at;
  std::uintptr_t taken_above; // not used by these deques
  failure* failures;
  std::uint32_t stops; // not used
  unsigned uncaught;   // set by activate
  std::uint32_t made_in = base::this_process;
  union {
    strand_state strand; // in a union, so that no scope pays for its initialisation
  };

  [[gnu::always_inline]] scope_state() noexcept : failures{nullptr} {}
};
inline void open_states() noexcept {}

struct scope_frame : arch::context {
  // A thief may come right after the push.
  [[gnu::always_inline]] scope_frame() noexcept { NOPAL_STORE_STACK_POINTER(stack_pointer); }

  scope_state& state() noexcept { return state_; }
  const scope_state& state() const noexcept { return state_; }
  std::uintptr_t base_of_frame() const noexcept { return frame_pointer & ~arch::frame_flags; }
  std::uintptr_t stack_pointer_of_fork() const noexcept { return stack_pointer; }
  bool is_of(std::uintptr_t frame) const noexcept { return base_of_frame() == frame; }

  bool needs_join() const noexcept { return (frame_pointer & arch::frame_flags) != 0; }
  bool active() const noexcept { return (frame_pointer & kActive) != 0; }
  void activate(unsigned uncaught = 0) noexcept {
    if (active())
      return;
    state_.uncaught = uncaught;
    frame_pointer |= kActive;
  }
  void deactivate() noexcept {
    state_.failures = nullptr;
    frame_pointer &= ~kActive;
  }

  bool exceptions_aside() const noexcept { return (frame_pointer & kExceptionsAside) != 0; }
  void note_exceptions_aside() noexcept { frame_pointer |= kExceptionsAside; }
  void forget_exceptions_aside() noexcept { frame_pointer &= ~kExceptionsAside; }

  void note_own_control() noexcept { frame_pointer |= kOwnControl; }
  bool take_own_control() noexcept {
    const bool own = (frame_pointer & kOwnControl) != 0;
    frame_pointer &= ~kOwnControl;
    return own;
  }

  unsigned uncaught() const noexcept { return active() ? state_.uncaught : 0; }
  // A failure stops no strand here.
  static std::int64_t first_failure() noexcept { return no_failure; }
  static bool note_failure(std::int64_t) noexcept { return false; }
  static bool overtaken() noexcept { return false; }
  static bool is_structured() noexcept { return false; }
  static bool is_of_region() noexcept { return false; }
  static partials_list& partial() noexcept { // no baseline has reducers
    static partials_list none;
    return none;
  }
  static ancestor& below() noexcept {
    static ancestor all;
    return all;
  }

  std::int64_t steals() const noexcept { return state_.join.steals(); }
  // Called by the thief that has just stolen the main path. With `locked` it has counted already.
  void note_stolen() noexcept {
    activate();
    if constexpr (!counted_under_deque_lock<NOPAL_JOIN>)
      state_.join.count_steal();
  }

private:
  scope_state state_;

  static constexpr std::uintptr_t kActive = 1; // stolen, or a child has failed
  static constexpr std::uintptr_t kExceptionsAside = 2;
  static constexpr std::uintptr_t kOwnControl = 4;
  static_assert((kActive | kExceptionsAside | kOwnControl) == arch::frame_flags);
};

// The record of an open fork.
struct fork_record {
  using frame_type = scope_frame;

  scope_frame* parent;
  std::int64_t steals_before;
  failure* failed;

  [[gnu::always_inline]] explicit fork_record(scope_frame* forking,
                                              fork_kind = fork_kind::plain) noexcept
      : parent{forking}, steals_before{forking->steals()} {
    base::note_fork(this, forking);
  }

  // No baseline cancels: the study does not ask for it.
  static fork_kind kind() noexcept { return fork_kind::plain; }
  scope_frame* scope() const noexcept { return parent; }
  scope_frame* frame() const noexcept { return parent; }
  static void complete(std::uintptr_t) noexcept {}
  // Called by the thief under the deque's lock, if the deque has one.
  static void taken(scope_frame* frame) noexcept {
    if constexpr (counted_under_deque_lock<NOPAL_JOIN>)
      frame->state().join.count_steal();
  }
};

// All workers of a baseline see all frames.
struct frame_place {
  stack::stack_id home = stack::no_stack;
  std::uintptr_t low = 0;
};
inline scope_frame* name_of(scope_frame* scope) noexcept { return scope; }
inline scope_frame* scope_of(const scope_frame* named) noexcept {
  return const_cast<scope_frame*>(named);
}
inline frame_place place_of(const scope_frame*) noexcept { return {}; }

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
