// SPDX-License-Identifier: MIT
// The tree of cancelables as programs use it (nopal/cancelable.h): a node takes in fibers, and
// cancels and joins them.
//
// Paper: manticore-icfp08, section 6.1.
#pragma once

#include "nopal/base/flag.h"
#include "nopal/config.h"
#include "nopal/vproc/cancel_node.h"
#include "nopal/vproc/failure_keeper.h"

#include <exception>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

class tree_node : public vproc::cancel_node {
public:
  using vproc::cancel_node::cancel_node;
  ~tree_node();
  // Cancels the members where an exception unwinds, or the calling strand is cancelled. Waits for
  // them if they are cancelled. Precondition, checked: then no member is left.
  void end() noexcept;

  // Tells all strands of members to stop, and returns when all members have ended, with those that
  // joined meanwhile; returns at once if the calling strand belongs to a member itself. Throws
  // `cancelled` if the strand is cancelled while it waits. Any thread.
  void cancel(std::exception_ptr reason = nullptr);
  // Where the walk down finds it, with what is placed below it.
  join::ancestor* placed() noexcept;
  // The fiber becomes a member, unless it is a member of this node, or of a node below it, already.
  // It stays one of the node that it is a member of. Precondition, checked: else it has not begun,
  // and is in a computation.
  void take_in(vproc::fiber& new_fiber);

  // Returns when no member is left. Throws `cancelled` if the strand is cancelled while it waits.
  // Precondition, checked: the calling strand belongs to no member.
  void join();

private:
  bool caller_is_inside() const noexcept;
  void wait_for_members();
  // Lets the strand wait until there is no member, or go on if there is none.
  vproc::signal join_or_enter(vproc::fiber* strand) noexcept;
};

// A node that the first failure of a member cancels. The members are told to stop, and awaited,
// before it is destroyed.
class failing_node : public tree_node {
public:
  // Below the node of the calling strand's fiber, if that has one.
  failing_node() noexcept;
  explicit failing_node(vproc::cancel_node* parent) noexcept : tree_node{parent} {
    keeps_failure = keep;
  }
  ~failing_node();

  // What the first member that failed has thrown, for who asks; null: none has failed.
  // Precondition: no member is left.
  const std::exception_ptr& failure() noexcept {
    kept_.given();
    return first_;
  }

private:
  static void keep(cancel_node* self, std::exception_ptr thrown) noexcept;

  base::flag failed_;
  vproc::kept_failures kept_;
  std::exception_ptr first_; // the member that has taken the flag writes it, before it ends
};

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
