// SPDX-License-Identifier: MIT
// The tree of cancelables as programs use it (nopal/cancelable.h): nodes that are cancelled, joined
// and given fibers.
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
  // Ends the program with a sentence if there are members.
  ~tree_node();

  // Any thread. Tells all strands of members to stop, and returns when they have, and the fibers
  // that were made members meanwhile; at once if the calling strand belongs to a member itself.
  void cancel();
  // The fiber, which has not begun, becomes a member; or it is a member already, of this node or of
  // one below it. Else it ends the program with a sentence.
  void take_in(vproc::fiber& unborn);

private:
  bool caller_is_inside() const noexcept;
};

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
