// SPDX-License-Identifier: MIT
// Whose view a strand needs.
#include "nopal/sched/views.h"

#include "nopal/base/check.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/given.h"
#include "nopal/vproc/worker.h"

#include <cstring>

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
  if (stack::small::holds(stack))
    stack::small::guard_here(stack);
  if (stack::is_viewed(stack))
    stack::view::show(stack);
  else if (const fiber* const caller = caller_on_view(context))
    stack::view::show(caller->on);
}

void check_words(const void* words, std::size_t bytes, given_to whom) noexcept {
  if (!stack::view::on() || !vproc::on_strand())
    return;
  std::uintptr_t lowest = arch::stack_pointer();
  stack::stack_id on = stack::view::leaf();
  if (whom == given_to::fiber || !stack::view::holds(lowest)) {
    const fiber* const caller = caller_on_view(current_context());
    on = caller != nullptr ? caller->on : stack::no_stack;
    lowest = caller != nullptr ? caller->stack_pointer : 0;
  }
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word;
    std::memcpy(&word, static_cast<const std::byte*>(words) + at, sizeof word);
    NOPAL_ASSERT(!stack::view::holds(word) || stack::view::shows_frame(on, lowest, word),
                 "a strand was given the address %#zx, where neither it nor an ancestor has a "
                 "frame: it leads into the stack of another strand, which workers that are "
                 "processes (nopal::mapped) do not see; put what such strands share, as the node "
                 "of a queue lock, on the heap or into a frame above both",
                 word);
  }
}

} // namespace nopal::inline NOPAL_ABI::sched
