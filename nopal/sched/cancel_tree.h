// SPDX-License-Identifier: MIT
// The tree of cancelables and the fibers below them (nopal/cancelable.h).
//
// A fiber is a member of one node, and counts at all nodes above that. It was made so before it
// began, and stays so; fibers that it spawns are members of the same node. A member's context
// (vproc/computation.h) names its node, where the walk of ancestry.h finds it.
//
// Paper: manticore-icfp08, section 6.1.
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"
#include "nopal/sched/fibers.h"
#include "nopal/vproc/members.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

class cancel_node : public join::cancelable {
public:
  explicit cancel_node(cancel_node* parent) noexcept
      : join::cancelable{parent}, parent_{parent},
        members_{parent != nullptr ? &parent->members_ : nullptr} {}
  // Ends the program with a sentence if there are members.
  ~cancel_node();

  // Any thread. Tells all strands of members to stop, and returns when they have, and the fibers
  // that were made members meanwhile; at once if the calling strand belongs to a member itself.
  void cancel();
  // The fiber, which has not begun, becomes a member; or it is one, of this node or of one below
  // it. Else it ends the program with a sentence.
  void take_in(fiber& one);

  bool is_or_is_below(const cancel_node* other) const noexcept;
  void begin_member() noexcept;
  void end_member() noexcept;

private:
  bool caller_is_inside() const noexcept;

  cancel_node* const parent_;
  vproc::members<fiber> members_;
};

// That of a fiber; null: none.
inline cancel_node* node_of(const vproc::fiber_context& of) noexcept {
  return static_cast<cancel_node*>(of.cancels);
}

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
