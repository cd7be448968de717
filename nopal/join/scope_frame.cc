// SPDX-License-Identifier: MIT
// How a frame is made ready for a thief.
#include "nopal/join/scope_frame.h"

#include "nopal/base/check.h"
#include "nopal/join/cancelable.h"
#include "nopal/join/join.h"
#include "nopal/stack/stack.h"

namespace nopal::inline NOPAL_ABI::join {
namespace {

// A scope lies between the stack pointer and the frame pointer of the frame that constructed it.
// If those are on different stacks, the scope was constructed after an earlier steal of the frame,
// and the frame has less than half a stack, or it could not have been stolen.
bool lies_in_its_frame(std::uintptr_t at, const scope_frame* scope, stack::stack_id on) noexcept {
  const std::uintptr_t low = scope->stack_pointer;
  const std::uintptr_t high = scope->base_of_frame();
  return at < high && at >= (stack::together(low, high, on) ? low : high - stack::size() / 2);
}

// Reads a word of a frame that its owner may be using: the owner does not write this word.
NOPAL_READS_FRAMES void* return_address(const void* where) noexcept {
  const base::reading_frames reading;
  return reinterpret_cast<void*>(base::load_relaxed_word(reinterpret_cast<std::uintptr_t>(where)));
}

// Before the main path can run on another stack (cancelable.h).
void show_region_fork(const region_frame* frame, stack::stack_id on) noexcept {
  if (frame->region == nullptr)
    return;
  cancelable* const region = stack::seen(on, frame->region);
  const auto at = reinterpret_cast<void*>(region->forked_at.load(base::relaxed));
  region->show_fork(reinterpret_cast<std::uintptr_t>(stack::seen(on, at)));
}

} // namespace

scope_state* fork_record::complete(std::uintptr_t taken_above, stack::stack_id on) noexcept {
  base::happens_after(this); // ThreadSanitizer does not see how the deque has found the record
  scope_frame* const scope = stack::seen(on, this->scope());
  scope->activate(); // before resume_at changes: it still tells where the return address lies
  scope_state& state = scope->state();
  state.structured = kind() == fork_kind::structured;
  NOPAL_ASSERT(lies_in_its_frame(reinterpret_cast<std::uintptr_t>(this->scope()), scope, on),
               "a scope is not a local variable of the function that uses it, but lies on the heap "
               "or in a coroutine's frame; declare it in an ordinary function's body");
  scope->resume_at = return_address(stack::seen(on, scope->resume_at));
  if (kind() == fork_kind::into_place) // a thief's next fork writes that word: a copy of it remains
    *reinterpret_cast<std::uintptr_t*>(this + 1) = *reinterpret_cast<std::uintptr_t*>(scope + 1);
  steals_before = scope->steals();
  if (steals_before == 0) // after a steal the record lies on a thief's stack
  {
    state.taken_above = taken_above;
    state.of_region = kind() == fork_kind::region; // before the first thief, who reads it
    state.scope = this->scope();
    if (stack::view::on() && state.of_region)
      show_region_fork(static_cast<const region_frame*>(scope), on);
    state.frame.low = scope->stack_pointer;
    state.frame.home = stack::is_ours(scope->stack_pointer)
                           ? stack::stack_of(scope->stack_pointer, on)
                           : stack::no_stack;
  }
  const std::uintptr_t at = steals_before == 0 ? scope->stack_pointer : state.stolen_at;
  NOPAL_ASSERT(stack::together(at, reinterpret_cast<std::uintptr_t>(this) - stack::offset(on), on),
               "a scope was forked while one declared after it had children, or after one declared "
               "before it was joined; the scopes of a function must be forked and joined like "
               "nested blocks");
  return &state;
}

} // namespace nopal::inline NOPAL_ABI::join
