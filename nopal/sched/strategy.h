// SPDX-License-Identifier: MIT
//
// Where a stolen continuation runs, and which one a worker may steal: the strategies of Cilk-M's
// figure 2 that this scheduler has, one of them chosen by the preset. Called by the rest of sched/
// alone.
//
// The *segment* of a strand is the part of its worker's stack that is its own; the segment's upper
// end is the floor. With a stack for each steal a segment is a whole stack.
//
//   floor(w)               where the segment of the strand begins that w runs or is about to
//   choose_stack(w, s)     w has stolen the main path of s and needs a stack; its floor
//   base_of_segment(s)     where the segment begins on which s was constructed, by a main path that
//                          was stolen before
//   leave_with_frame(w, s) w's child of s is finished, and the frame of s is the lowest on its
//                          stack, which is the frame's from now on. Before the child is counted.
//   leave_empty(w)         w's strand ends, or waits elsewhere; its segment is empty. Before it is
//                          counted.
//   waits_above(w, s)      the frame of s lies on w's stack, but above the segment
//   goes_on_here(w, s)     the join of s is complete: may w go on with it? If not, it has been told
//                          to who may.
//   ready(w)               such a scope that w has been told of, or null
//   home(w)                the computation that w may steal from; null: any
//   may_take(w, s)         may w steal this?
//
// Paper: cilk-m-pact10, section 3.
#pragma once

#include "nopal/sched/sched.h"

namespace nopal::sched {

// Guests wait for their own computation, so they may run that one's strands only: anything else
// might keep them arbitrarily long. Pool workers take whatever there is.
struct any_worker_anywhere {
  static constexpr bool restricts = false;

  static seat* home(const worker* self) noexcept { return self->at->pool ? nullptr : self->home; }
  static bool may_take(const worker*, const scope_frame*) noexcept { return true; }
  static bool waits_above(const worker*, const scope_frame*) noexcept { return false; }
  static scope_frame* ready(const worker*) noexcept { return nullptr; }
};

#if NOPAL_DEPTH_RESTRICTED

// Strategy 3: one stack per worker. A worker whose frame waits for its children steals on, on the
// same stack below that frame, but nothing shallower; and nobody else can go on with the frame.
struct strategy {
  static constexpr bool restricts = true;

  static std::uintptr_t floor(const worker* self) noexcept;
  static std::uintptr_t choose_stack(worker* self, scope_frame* stolen) noexcept;
  static std::uintptr_t base_of_segment(const scope_frame* scope) noexcept {
    return scope->above.parent->above.floor;
  }
  static void leave_with_frame(worker* self, scope_frame* scope) noexcept;
  static void leave_empty(worker*) noexcept {}
  static bool waits_above(const worker* self, const scope_frame* scope) noexcept;
  static bool goes_on_here(worker* self, scope_frame* scope) noexcept;
  static scope_frame* ready(const worker* self) noexcept;
  // While it waits, its own: depths of different computations cannot be compared.
  static seat* home(const worker* self) noexcept;
  static bool may_take(const worker* self, const scope_frame* scope) noexcept;
};

#elif NOPAL_REUSE_ANCESTORS

// Strategy 6: if the stolen frame has an ancestor below which nothing lies on its stack, until the
// ancestor's join nobody else needs that stack: the thief uses it. Else a new one.
struct strategy : any_worker_anywhere {
  static std::uintptr_t floor(const worker* self) noexcept;
  static std::uintptr_t choose_stack(worker* self, scope_frame* stolen) noexcept;
  static std::uintptr_t base_of_segment(const scope_frame* scope) noexcept {
    return scope->above.parent->above.floor;
  }
  static void leave_with_frame(worker* self, scope_frame* scope) noexcept;
  static void leave_empty(worker* self) noexcept;
  static bool goes_on_here(worker* self, scope_frame* scope) noexcept;
};

#else

// Strategy 5: a stack for each steal.
struct strategy : any_worker_anywhere {
  static std::uintptr_t floor(const worker* self) noexcept { return stack::top(self->stack); }
  static std::uintptr_t choose_stack(worker* self, const scope_frame*) noexcept {
    if (self->stack == stack::no_stack)
      self->stack = stack::acquire();
    return floor(self);
  }
  static std::uintptr_t base_of_segment(const scope_frame* scope) noexcept {
    return stack::top(stack::stack_of(scope->stack_pointer));
  }
  static void leave_with_frame(worker* self, const scope_frame*) noexcept {
    self->stack = stack::no_stack;
  }
  static void leave_empty(worker*) noexcept {}
  static bool goes_on_here(worker*, const scope_frame*) noexcept { return true; }
};

#endif

} // namespace nopal::sched
