// SPDX-License-Identifier: MIT
// The walk up to the nearest node. It places the nodes on its way from the top down, so each is
// placed once.
#include "nopal/sched/descent.h"

#include "nopal/base/per_process.h"
#include "nopal/sched/ancestry.h"
#include "nopal/stack/marks.h"
#include "nopal/vproc/cancel_node.h"

namespace nopal::inline NOPAL_ABI::sched {

namespace {

using join::ancestor;
using join::fork_kind;
using join::region_frame;

// In all that follows `on` is the stack of the strand, or one above which all that is looked at
// lies; what lies in frames is read, and placed, where all processes see it (stack/view.h).
ancestor* placed_above_stack(stack::stack_id stack, stack::stack_id on) noexcept;

const region_frame* region_of(const fork_record* fork, stack::stack_id on) noexcept {
  return fork->kind() == fork_kind::region
             ? static_cast<const region_frame*>(stack::seen(on, fork->scope()))
             : nullptr;
}

// The node above the strand whose frames begin at this address; null: there is none.
ancestor* placed_above(std::uintptr_t from, stack::stack_id on) noexcept {
  if (!stack::is_ours(from))
    return nullptr;
  const stack::stack_id stack = stack::stack_of(from, on);
  const std::uintptr_t top = stack::frames_top(stack);
  const std::uintptr_t offset = stack::offset(stack);
  for (std::uintptr_t at = from; (at = stack::marks::lowest(at, top, offset)) != 0; at += sizeof at)
    if (const region_frame* const frame =
            region_of(reinterpret_cast<const fork_record*>(at + offset), on))
      return frame->region == nullptr ? nullptr : placed_region(frame, at + sizeof at, on);
  return placed_above_stack(stack, on);
}

ancestor* placed_scope(scope_frame* scope, stack::stack_id on) noexcept {
  if (!scope->below().placed()) {
    const auto* const frame = scope->is_of_region() ? static_cast<region_frame*>(scope) : nullptr;
    scope->below().place(frame != nullptr && frame->region != nullptr
                             ? placed_region(frame, scope->stack_pointer, on)
                             : placed_above(scope->stack_pointer, on));
  }
  return &scope->below();
}

// The node above the caller of `run`, which waits as long as the computation has fibers.
ancestor* placed_above_computation(vproc::computation* in) noexcept {
  ancestor* known = in->below.load(base::acquire);
  if (known == nullptr) {
    ancestor* const above = placed_above(in->waiting->stack_pointer, in->waiting->on);
    known = above != nullptr ? above : join::nothing_above();
    in->below.store(known, base::release); // the node is placed: its partner is the load above
  }
  return known != join::nothing_above() ? known : nullptr;
}

ancestor* placed_above_fiber(const fiber_context* context) noexcept {
  ancestor* const outside = placed_above_computation(context->computation);
  if (context->cancels == nullptr)
    return outside;
  ancestor* const own = placed_node(context->cancels);
  if (outside == nullptr)
    return own;
  const auto is_outside = [outside](const vproc::cancel_node* at) { return &at->below == outside; };
  return context->cancels->nearest(is_outside) != nullptr ? own : &below_several();
}

ancestor* placed_above_stack(stack::stack_id stack, stack::stack_id on) noexcept {
  const origin& from = origin_of(stack);
  switch (from.tag) {
  case origin::kind::steal:
    return placed_scope(stack::seen(on, from.stolen), on);
  case origin::kind::first_child: {
    const auto at = reinterpret_cast<std::uintptr_t>(from.fork);
    const region_frame* const frame = region_of(stack::seen(on, from.fork), on);
    if (frame == nullptr)
      return placed_above(at, on);
    return frame->region == nullptr ? nullptr : placed_region(frame, at, on);
  }
  case origin::kind::fiber:
    break;
  }
  return from.context == nullptr ? nullptr : placed_above_fiber(from.context);
}

// Cancellers find the stack by addresses that the regions' main paths have noted, on their views:
// these become addresses that mean the same in all processes. (Of regions that were stolen, they
// have become so when the fork was completed.)
void show_regions_forked_on(stack::stack_id on, std::uintptr_t from) noexcept {
  const std::uintptr_t top = stack::frames_top(on);
  const std::uintptr_t offset = stack::offset(on);
  for (std::uintptr_t at = from; (at = stack::marks::lowest(at, top, offset)) != 0; at += sizeof at)
    if (const region_frame* const frame =
            region_of(reinterpret_cast<const fork_record*>(at + offset), on);
        frame != nullptr && frame->region != nullptr)
      stack::seen(on, frame->region)->show_fork(at + offset);
}

} // namespace

ancestor* placed_node(vproc::cancel_node* node) noexcept {
  node = stack::seen(stack::no_stack, node);
  if (!node->below.placed())
    node->below.place(node->parent() != nullptr ? placed_node(node->parent())
                      : node->is_joint()        ? &below_several()
                                                : nullptr);
  return &node->below;
}

// On a thief's stack the main path of the region itself may run; then the walk goes on where the
// region was forked first.
ancestor* placed_region(const region_frame* frame, std::uintptr_t at, stack::stack_id on) noexcept {
  frame = stack::seen(on, frame);
  ancestor& node = stack::seen(on, frame->region)->below;
  if (node.placed())
    return &node;
  if (stack::is_ours(at)) {
    const origin& from = origin_of(stack::stack_of(at, on));
    if (from.tag == origin::kind::steal && stack::seen(on, from.stolen) == frame)
      at = frame->stack_pointer;
  }
  node.place(placed_above(at, on));
  return &node;
}

join::ancestor& below_several() noexcept {
  static constinit base::per_process<join::ancestor> node; // cancellers may come late
  return node.get();
}

void place_stack(stack::stack_id on, std::uintptr_t from) noexcept {
  if (stack::is_viewed(on))
    show_regions_forked_on(on, from);
  join::descendant& own = descendant_of(on);
  if (!own.placed())
    own.place(placed_above_stack(on, on));
}

void displace_stack(stack::stack_id on) noexcept { descendant_of(on).remove(); }

} // namespace nopal::inline NOPAL_ABI::sched
