// SPDX-License-Identifier: MIT
//
// Cilk-M's strategy 6 (strategy.h): stolen frames run on their ancestors' stacks.
//
// A stack lies idle for a scope when the scope's frame is the lowest on it and nobody runs there.
// All that runs on an idle stack's rest is a descendant of that frame, so its join comes later; a
// thief that holds a descendant may claim the stack. Claims nest as frames do: the scopes below
// which a stack is in use, or was when a deeper frame began to wait, are in a list of the stack,
// newest first.
//
// Ownership: a claimed stack and its list are the claimant's until it lets the stack lie idle
// again. Orders: letting it lie idle is release, claiming it acquire; going on after a join needs
// neither, the join orders all claimants before it.
#include "nopal/sched/strategy.h"

#if NOPAL_REUSE_ANCESTORS

namespace nopal::sched {

namespace {

struct sharing {
  base::atomic<scope_frame*> idle_for{nullptr};
  scope_frame* claimed = nullptr;
};
sharing stacks[stack::most_stacks];

sharing& of(stack::stack_id stack) noexcept { return stacks[stack::number_of(stack)]; }

bool claim(worker* self, scope_frame* ancestor) noexcept {
  const std::uintptr_t at = ancestor->stack_pointer;
  if (!stack::is_ours(at))
    return false;
  const stack::stack_id stack = stack::stack_of(at);
  if (at - stack::bottom(stack) < stack::size() / 2) // too little left for a frame of any size
    return false;
  sharing& place = of(stack);
  scope_frame* expected = ancestor;
  if (place.idle_for.load(base::relaxed) != ancestor ||
      !place.idle_for.compare_exchange_strong(expected, nullptr, base::acquire, base::relaxed))
    return false;
  if (self->stack != stack::no_stack)
    stack::release(self->stack);
  ancestor->above.next = place.claimed;
  place.claimed = ancestor;
  self->stack = stack;
  stack::reuse(stack);
  return true;
}

} // namespace

std::uintptr_t strategy::floor(const worker* self) noexcept {
  const scope_frame* const claimed = of(self->stack).claimed;
  return claimed == nullptr ? stack::top(self->stack) : claimed->stack_pointer;
}

std::uintptr_t strategy::choose_stack(worker* self, scope_frame* stolen) noexcept {
  self->innermost = stolen;
  scope_frame* at = stolen->above.parent;
  while (at != nullptr && !claim(self, at))
    at = at->above.parent;
  if (self->stack == stack::no_stack)
    self->stack = stack::acquire();
  return stolen->above.floor = floor(self);
}

void strategy::leave_with_frame(worker* self, scope_frame* scope) noexcept {
  of(self->stack).idle_for.store(scope, base::release);
  self->stack = stack::no_stack;
}

void strategy::leave_empty(worker* self) noexcept {
  sharing& place = of(self->stack);
  scope_frame* const claimed = place.claimed;
  if (claimed == nullptr)
    return; // a stack of its own, kept for the next steal
  place.claimed = claimed->above.next;
  place.idle_for.store(claimed, base::release);
  self->stack = stack::no_stack;
}

bool strategy::goes_on_here(worker* self, scope_frame* scope) noexcept {
  of(stack::stack_of(scope->stack_pointer)).idle_for.store(nullptr, base::relaxed);
  self->innermost = scope->above.parent;
  return true;
}

} // namespace nopal::sched

#endif
