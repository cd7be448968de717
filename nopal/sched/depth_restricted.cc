// SPDX-License-Identifier: MIT
//
// Cilk-M's strategy 3 (strategy.h): one stack per worker, and nothing shallower than what waits on
// it.
//
// A worker's stack, with the scopes in `waiting` from the newest, W2, to the oldest, W1:
//
//   | ... frame of W1 | segment: ... frame of W2 | segment of the strand that runs |
//   top                                          floor
//
// Only the worker itself can go on with W2, once W2's children are finished and its segment is
// empty. Whoever finishes the last child says so in `completed`, which carries what the children
// wrote (release, acquire).
#include "nopal/sched/strategy.h"

#if NOPAL_DEPTH_RESTRICTED

namespace nopal::sched {

std::uintptr_t strategy::floor(const worker* self) noexcept {
  return self->waiting == nullptr ? stack::top(self->stack) : self->waiting->stack_pointer;
}

std::uintptr_t strategy::choose_stack(worker* self, scope_frame* stolen) noexcept {
  if (self->stack == stack::no_stack)
    self->stack = stack::acquire();
  stack::reuse(self->stack); // below a frame that waits
  self->innermost = stolen;
  return stolen->above.floor = floor(self);
}

void strategy::leave_with_frame(worker* self, scope_frame* scope) noexcept {
  scope->above.completed.store(false, base::relaxed);
  scope->above.waiter = self;
  scope->above.next = self->waiting;
  self->waiting = scope;
}

// Its main path was stolen by the worker on whose stack it waits.
bool strategy::waits_above(const worker* self, const scope_frame* scope) noexcept {
  const scope_frame* at = self->waiting;
  while (at != nullptr && at != scope)
    at = at->above.next;
  return at != nullptr;
}

bool strategy::goes_on_here(worker* self, scope_frame* scope) noexcept {
  if (scope == self->waiting) {
    self->waiting = scope->above.next;
    self->innermost = scope->above.parent;
    return true;
  }
  auto* const waiter = static_cast<worker*>(scope->above.waiter);
  seat* const place = waiter->at; // it may be gone from there afterwards
  scope->above.completed.store(true, base::release);
  if (waiter != self)
    wake(self, place);
  return false;
}

scope_frame* strategy::ready(const worker* self) noexcept {
  scope_frame* const newest = self->waiting;
  return newest != nullptr && newest->above.completed.load(base::acquire) ? newest : nullptr;
}

seat* strategy::home(const worker* self) noexcept {
  return self->at->pool && self->waiting == nullptr ? nullptr : self->home;
}

bool strategy::may_take(const worker* self, const scope_frame* scope) noexcept {
  return self->waiting == nullptr || scope->above.depth >= self->waiting->above.depth;
}

} // namespace nopal::sched

#endif
