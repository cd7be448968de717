// SPDX-License-Identifier: MIT
// What a view consists of, where a stack begins in it, and the fewest calls that turn one view into
// another (view.h).
//
// Invariant (V2 of view.h): a segment is written by the one thread that has the empty stack, and
//           read by those that run strands of the stack or of stacks below it. They get it from
//           that thread: by a fork that they steal, a join, or a strand that was made ready.
// Complexity: a change takes a step for each stack of both views, and at most a call for each stack
//           that is new in the second, begins elsewhere, or reaches further down there.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/stack/bounds.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack::view {

// How a stack lies in views.
struct segment {
  base::handed_over<std::uintptr_t> top{0};
  base::handed_over<stack_id> parent{no_stack};
};

// Where a stack begins below a frame with this lowest byte: the rest of that page is the parent's
// (V3 of view.h).
inline std::uintptr_t top_below(std::uintptr_t frame_low, std::uintptr_t page) noexcept {
  return frame_low & ~(page - 1);
}

// The stack that strands of `on` see at this address of a view; no_stack: none. `segment_of`
// returns a stack's segment.
template <class Segments>
stack_id home(stack_id on, std::uintptr_t address, Segments segment_of) noexcept {
  while (on != no_stack && address >= segment_of(on).top)
    on = segment_of(on).parent;
  return on;
}

// From `low` up to the part before it, or the view's end, a view shows this stack, as it is while
// it has this top. Where it begins elsewhere, other memory is at each address.
struct part {
  std::uintptr_t low;
  stack_id shows;
  std::uintptr_t top;
};
// A view: the highest part first.
struct parts {
  part* all = nullptr;
  std::size_t count = 0;
};

// How many parts a view has for strands of the stack `leaf`.
template <class Segments> std::size_t parts_of(stack_id leaf, Segments segment_of) noexcept {
  std::size_t count = 0;
  for (stack_id stack = leaf; stack != no_stack; stack = segment_of(stack).parent)
    ++count;
  return count;
}

// Lists them for a view that begins at `low`. `to` has room for them.
template <class Segments>
void list(stack_id leaf, std::uintptr_t low, Segments segment_of, parts& to) noexcept {
  std::size_t left = to.count = parts_of(leaf, segment_of);
  for (stack_id stack = leaf; stack != no_stack; stack = segment_of(stack).parent) {
    const std::uintptr_t top = segment_of(stack).top;
    to.all[--left] = {low, stack, top};
    low = top;
  }
}

// Calls map(low, high, part) for each range that `next` shows otherwise than `now`, each as long as
// it can be, and a piece of that part of `next`. Both views end at `end`; below its last part `now`
// shows nothing.
template <class Map>
void change(const parts& now, const parts& next, std::uintptr_t end, Map map) noexcept {
  std::uintptr_t high = end;
  std::size_t at = 0; // the first part of `now` that reaches below `high`
  for (std::size_t i = 0; i < next.count; ++i) {
    const part& wanted = next.all[i];
    std::uintptr_t differs = 0; // where a range begins that shows another stack; 0: none does
    while (high > wanted.low) {
      while (at < now.count && now.all[at].low >= high)
        ++at;
      const bool known = at < now.count;
      const bool same = known && now.all[at].shows == wanted.shows && now.all[at].top == wanted.top;
      if (!same && differs == 0)
        differs = high;
      if (same && differs != 0) {
        map(high, differs, wanted);
        differs = 0;
      }
      high = known && now.all[at].low > wanted.low ? now.all[at].low : wanted.low;
    }
    if (differs != 0)
      map(wanted.low, differs, wanted);
  }
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack::view
NOPAL_HIDDEN_END
