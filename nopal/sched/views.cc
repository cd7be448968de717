// SPDX-License-Identifier: MIT
// Whose view a strand needs.
#include "nopal/sched/views.h"

#include "nopal/sched/ancestry.h"

namespace nopal::inline NOPAL_ABI::sched {
namespace {

// The nearest caller of `run` above the fiber that waits on a view; null: there is none.
const fiber* caller_on_view(const fiber_context* context) noexcept {
  while (context != nullptr) {
    const fiber* const caller = context->computation->waiting;
    if (stack::is_viewed(caller->on))
      return caller;
    context = caller->context;
  }
  return nullptr;
}

} // namespace

void see_below(join::frame_place frame, stack::stack_id empty) noexcept {
  if (!stack::view::on())
    return;
  if (frame.home != stack::no_stack && !stack::is_viewed(frame.home)) {
    const fiber* const caller = caller_on_view(context_of(frame.home));
    frame = caller != nullptr ? join::frame_place{caller->on, caller->stack_pointer}
                              : join::frame_place{};
  }
  stack::view::begin(empty, frame.low, frame.home);
  stack::view::show(empty);
}

void see_joined(join::frame_place frame) noexcept {
  if (stack::view::on() && frame.home != stack::no_stack)
    see(frame.home, context_of(frame.home));
}

void see(stack::stack_id stack, const fiber_context* context) noexcept {
  if (!stack::view::on())
    return;
  if (stack::is_viewed(stack))
    stack::view::show(stack);
  else if (const fiber* const caller = caller_on_view(context))
    stack::view::show(caller->on);
}

} // namespace nopal::inline NOPAL_ABI::sched
