// SPDX-License-Identifier: MIT
// Members of cancelables, and waiting for their end.
#include "nopal/cancel/cancel_tree.h"

#include "nopal/base/check.h"
#include "nopal/cancel/cancel.h"
#include "nopal/fibers/fibers.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/park.h"
#include "nopal/sched/stop.h"

namespace nopal::inline NOPAL_ABI::cancel {

using vproc::fiber;
using vproc::signal;

tree_node::~tree_node() {
  NOPAL_ASSERT(
      !has_members(),
      "a nopal::cancelable was destroyed that has fibers which have not ended; let it live "
      "until they have, or cancel it before");
  if (marked())
    sched::stop_ended();
}

// A computation's fibers end before its caller goes on, so they are inside where the caller is.
bool tree_node::caller_is_inside() const noexcept {
  for (const vproc::fiber_context* at = sched::current_context(); at != nullptr;
       at = at->computation->waiting->context)
    if (at->cancels != nullptr && at->cancels->is_or_is_below(this))
      return true;
  return false;
}

void tree_node::cancel() {
  cancel::cancel(*this);
  if (caller_is_inside())
    return;
  sched::park([this](fiber* strand) {
    return join_members(strand) ? signal::stop() : signal::enter(strand);
  });
  note_members_ended();
}

void tree_node::take_in(fiber& unborn) {
  vproc::fiber_context* const context = unborn.context;
  NOPAL_ASSERT(context != nullptr,
               "a strand outside nopal::run was given a cancelable; only fibers have one");
  vproc::cancel_node* const before = context->cancels;
  if (before != nullptr && before->is_or_is_below(this))
    return;
  NOPAL_ASSERT(unborn.begin != nullptr,
               "a fiber that has begun was given a cancelable that it does not have; give it when "
               "it is made");
  NOPAL_ASSERT(before == nullptr || is_or_is_below(before),
               "a fiber was given a second cancelable, which is not below its first; make the "
               "second one with the first one as its parent");
  begin_member();
  context->cancels = this;
  if (before != nullptr)
    fibers::end_member(before);
}

} // namespace nopal::inline NOPAL_ABI::cancel
