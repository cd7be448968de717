// SPDX-License-Identifier: MIT
// The tree of cancelables as programs use it (nopal/cancelable.h): a node takes in fibers, and
// cancels and joins them.
//
// Paper: manticore-icfp08, section 6.1.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/cancel_node.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

class tree_node : public vproc::cancel_node {
public:
  using vproc::cancel_node::cancel_node;
  // Waits for the members, if it was cancelled. Precondition, checked: then no member is left.
  ~tree_node();

  // Tells all strands of members to stop, and returns when all members have ended, with those that
  // joined meanwhile; returns at once if the calling strand belongs to a member itself. Throws
  // `cancelled` if the strand is cancelled while it waits. Any thread.
  void cancel();
  // The fiber becomes a member, unless it is one of this node or of a node below it. Precondition,
  // checked: else it has not begun, and is in a computation.
  void take_in(vproc::fiber& new_fiber);

private:
  bool caller_is_inside() const noexcept;
  // The strand waits until there is no member; or need not.
  vproc::signal join_or_enter(vproc::fiber* strand) noexcept;
};

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
