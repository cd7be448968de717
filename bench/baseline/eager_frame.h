// SPDX-License-Identifier: MIT
//
// What a scope and a thunk hold where every fork is public at once: no slow path comes before a
// thief does. The join's state is set by the scope's constructor, and each fork says where to go
// on. Otherwise as nopal/join/lazy_frame.h.
//
// Paper: fibril-spaa16, listing 2 (fibril_t); nowa-ipdps21, listing 4.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/failure.h"
#include NOPAL_JOIN_HEADER

#include <cstddef>
#include <cstdint>

namespace nopal::inline NOPAL_ABI::join {

// A join that a thief tells of its steal while it holds the deque's lock.
template <class Join>
concept counted_under_deque_lock = requires { Join::counts_under_deque_lock; };

struct scope_frame : arch::context {
  [[gnu::always_inline]] scope_frame() noexcept : failures{nullptr} {}

  NOPAL_JOIN join;
  std::uintptr_t stolen_at;
  std::uintptr_t taken_above; // not used by these deques
  failure* failures;
  exception_state exceptions;
  int error;

  std::uintptr_t base_of_frame() const noexcept { return frame_pointer & ~arch::frame_flags; }
  bool is_of(std::uintptr_t frame) const noexcept { return base_of_frame() == frame; }

  bool needs_join() const noexcept {
    return (frame_pointer & arch::frame_flags) != 0 || join.steals() != 0;
  }
  void activate() noexcept { frame_pointer |= kFailed; }
  void deactivate() noexcept { frame_pointer &= ~kFailed; }

  bool exceptions_aside() const noexcept { return (frame_pointer & kExceptionsAside) != 0; }
  void note_exceptions_aside() noexcept { frame_pointer |= kExceptionsAside; }
  void forget_exceptions_aside() noexcept { frame_pointer &= ~kExceptionsAside; }

  std::int64_t steals() const noexcept { return join.steals(); }
  // A thief, as the main path. `locked` was told under the deque's lock.
  void note_stolen() noexcept {
    if constexpr (!counted_under_deque_lock<NOPAL_JOIN>)
      join.count_steal();
  }

private:
  static constexpr std::uintptr_t kFailed = 1;
  static constexpr std::uintptr_t kExceptionsAside = 2;
  static_assert((kFailed | kExceptionsAside) == arch::frame_flags);
};

// The record of an open fork.
struct fork_record {
  using frame_type = scope_frame;

  scope_frame* scope;
  std::int64_t steals_before;
  failure* failed;

  [[gnu::always_inline]] explicit fork_record(scope_frame* of) noexcept
      : scope{of}, steals_before{of->join.steals()} {
    base::note_fork(this, of);
    of->resume_at = *static_cast<void**>(of->resume_at); // the stub left its place
  }

  scope_frame* frame() const noexcept { return scope; }
  static void complete(std::uintptr_t) noexcept {}
  // Called by the thief under the deque's lock, if that steals under one.
  static void taken(scope_frame* frame) noexcept {
    if constexpr (counted_under_deque_lock<NOPAL_JOIN>)
      frame->join.count_steal();
  }
};

} // namespace nopal::inline NOPAL_ABI::join
