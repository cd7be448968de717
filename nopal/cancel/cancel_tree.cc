// SPDX-License-Identifier: MIT
// How fibers become members of a node, and how a canceller waits for their end.
#include "nopal/cancel/cancel_tree.h"

#include "nopal/base/check.h"
#include "nopal/cancel/cancel.h"
#include "nopal/fibers/fibers.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/descent.h"
#include "nopal/sched/park.h"
#include "nopal/sched/stop.h"

#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::cancel {

using vproc::fiber;
using vproc::signal;

tree_node::~tree_node() {
  end();
  if (marked()) // nobody is left whom the announcement concerns
    sched::stop_ended();
}

void tree_node::end() noexcept {
  if (has_members() && !caller_is_inside()) {
    if (!cancelled() && (std::uncaught_exceptions() > 0 || sched::stops_here()))
      cancel::cancel(*this); // its function ends early, and would have waited for the members
    // A strand that was cancelled in `cancel` has left it before the members had ended.
    if (cancelled()) {
      sched::park([this](fiber* strand) { return join_or_enter(strand); });
      note_members_ended();
    }
  }
  NOPAL_ASSERT(
      !has_members(),
      "a nopal::cancelable was destroyed that has fibers which have not ended; let it live "
      "until they have, or cancel it before");
}

// Whether the calling strand's fiber, or a fiber that waits for its computation, is a member: such
// a strand would wait for itself. The callers of enclosing computations live longer than this walk.
bool tree_node::caller_is_inside() const noexcept {
  for (const vproc::fiber_context* inner = sched::current_context(); inner != nullptr;
       inner = inner->computation->waiting->context)
    if (inner->cancels != nullptr && inner->cancels->is_or_is_below(this))
      return true;
  return false;
}

void tree_node::cancel(std::exception_ptr reason) {
  cancel::cancel(*this, std::move(reason));
  if (!caller_is_inside())
    wait_for_members();
}

join::ancestor* tree_node::placed() noexcept { return sched::placed_node(this); }

void tree_node::join() {
  NOPAL_ASSERT(!caller_is_inside(),
               "a fiber joined a nopal::fiber_group, a nopal::task or a nopal::task_group that it "
               "belongs to "
               "itself, for whose end it would wait for ever; let a strand outside join it");
  wait_for_members();
}

void tree_node::wait_for_members() {
  sync::choice waits{sync::wanted::end_of_fibers, this};
  const bool ended = sched::park_or_stop(
      stack::seen(waits), [this](fiber* strand) { return join_or_enter(strand); },
      [this](fiber* strand) { leave_members(strand); });
  if (!ended)
    join::throw_cancelled();
  note_members_ended(); // also if the strand need not wait
}

failing_node::failing_node() noexcept
    : failing_node{sched::current_context() != nullptr ? sched::current_context()->cancels
                                                       : nullptr} {}

failing_node::~failing_node() {
  if (has_members())
    cancel::cancel(*this); // and the node waits for them when it is destroyed
}

void failing_node::keep(cancel_node* self, std::exception_ptr thrown) noexcept {
  auto* const node = static_cast<failing_node*>(self);
  node->kept_.keep();
  if (!node->failed_.take())
    return;
  node->first_ = std::move(thrown);
  cancel::cancel(*node, node->first_);
}

signal tree_node::join_or_enter(fiber* strand) noexcept {
  return join_members(strand) ? signal::stop() : signal::enter(strand);
}

void tree_node::take_in(fiber& new_fiber) {
  vproc::fiber_context* const context = new_fiber.context;
  NOPAL_ASSERT(context != nullptr,
               "a strand outside nopal::run was given a cancelable; only fibers have one");
  vproc::cancel_node* const before = context->cancels;
  if (before != nullptr && before->is_or_is_below(this))
    return;
  NOPAL_ASSERT(new_fiber.begin != nullptr,
               "a fiber that has begun was given a cancelable that it does not have; give it when "
               "it is made");
  vproc::cancel_node* node = this;
  if (before != nullptr && !is_or_is_below(before))
    node = new vproc::joint{this, before};
  node->begin_member(); // before it leaves the node above, whose count does not fall to 0 meanwhile
  context->cancels = node;
  if (before != nullptr)
    fibers::end_member(before);
}

} // namespace nopal::inline NOPAL_ABI::cancel
