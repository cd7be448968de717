// SPDX-License-Identifier: MIT
// The context of a fiber: what all strands of the fiber share. It outlives them.
//
// Ownership: `computation`, `cancels`, `pinned` and `runner` are written before the fiber begins,
//            then constant. The rest is for the fiber's strands, which may run at the same time.
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
  class computation* computation = nullptr; // the computation that waits for the fiber
  cancel_node* cancels = nullptr;           // the node that has the fiber as a member; or null
  sync::fiber_locals locals;
  base::count masks;       // guards that keep the strands from being preempted
  vproc* pinned = nullptr; // null: the fiber may run on any vproc
  void* runner = nullptr;  // what the fiber has taken from a work_queue that it serves; or null
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
