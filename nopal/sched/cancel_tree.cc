// SPDX-License-Identifier: MIT
// Members of cancelables, and waiting for their end.
#include "nopal/sched/cancel_tree.h"

#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/cancel.h"
#include "nopal/sched/park.h"

namespace nopal::inline NOPAL_ABI::sched {

cancel_node::~cancel_node() {
  NOPAL_ASSERT(
      !members_.any(),
      "a nopal::cancelable was destroyed that has fibers which have not ended; let it live "
      "until they have, or cancel it before");
  if (marked())
    stop_ended();
}

bool cancel_node::is_or_is_below(const cancel_node* other) const noexcept {
  const cancel_node* at = this;
  while (at != nullptr && at != other)
    at = at->parent_;
  return at != nullptr;
}

void cancel_node::begin_member() noexcept { members_.begin_one(); }

void cancel_node::end_member() noexcept {
  for (cancel_node* at = this; at != nullptr; at = at->parent_)
    base::happens_before(&at->members_);
  for (fiber* waiting = members_.end_one(); waiting != nullptr;) { // this may be gone after it
    fiber* const next = waiting->next_waiting;
    make_ready(waiting);
    waiting = next;
  }
}

// A computation's fibers end before its caller goes on, so they are inside where the caller is.
bool cancel_node::caller_is_inside() const noexcept {
  for (const fiber_context* at = current_context(); at != nullptr; at = at->in->waiting->with)
    if (at->cancels != nullptr && node_of(*at)->is_or_is_below(this))
      return true;
  return false;
}

void cancel_node::cancel() {
  sched::cancel(*this);
  if (caller_is_inside())
    return;
  park([this](fiber* strand) {
    return members_.join(strand) ? signal::stop() : signal::enter(strand);
  });
  base::happens_after(&members_);
}

void cancel_node::take_in(fiber& one) {
  fiber_context* const context = one.with;
  NOPAL_ASSERT(context != nullptr,
               "a strand outside nopal::run was given a cancelable; only fibers have one");
  cancel_node* const before = node_of(*context);
  if (before != nullptr && before->is_or_is_below(this))
    return;
  NOPAL_ASSERT(one.begin != nullptr,
               "a fiber that has begun was given a cancelable that it does not have; give it when "
               "it is made");
  NOPAL_ASSERT(before == nullptr || is_or_is_below(before),
               "a fiber was given a second cancelable, which is not below its first; make the "
               "second one with the first one as its parent");
  begin_member();
  context->cancels = this;
  if (before != nullptr)
    before->end_member();
}

} // namespace nopal::inline NOPAL_ABI::sched
