// SPDX-License-Identifier: MIT
// The context of a fiber: what all strands of the fiber have in common. It ends after them.
//
// Ownership: `in`, `cancels` and `pinned` are written before the fiber begins, and are constant
//            from then on. The rest is for the fiber's strands, which may run at the same time.
#pragma once

#include "nopal/base/count.h"
#include "nopal/config.h"
#include "nopal/sync/fiber_locals.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

class cancel_node;
class computation;
struct vproc;

struct fiber_context {
  computation* in = nullptr;      // the computation that waits for the fiber
  cancel_node* cancels = nullptr; // of which the fiber is a member; null: none
  sync::fiber_locals locals;
  base::count masks;       // guards that keep the strands from being preempted
  vproc* pinned = nullptr; // null: the fiber may run on any vproc
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
