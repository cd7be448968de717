// SPDX-License-Identifier: MIT
// The affine calls that have no region (sched/affine_call.h), as their thread's vproc has them.
//
// Invariant: what a vproc runs lies within the innermost call that is noted there. So calls end in
//            the reverse order in which they began.
// Ownership: the vproc's thread writes all of a note, `own` before a strand leaves it; the vproc on
//            which the call's function returns reads it. What hands the strand over orders both.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/worker.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct affine_note {
  affine_note* outer;   // the call within which it was made, of the same thread
  vproc* home;          // that thread's
  group* around;        // its strand's
  group* own = nullptr; // what binds the vproc, since a strand has left it within the call
};

// Called before others can have a strand that leaves the vproc, which is bound to the innermost
// call from now on: where a child has lost its parent, or a strand parks. A strand that leaves at
// a join has come from the scheduler, so one has left before. A call's function forks at once, so
// none leaves within it by the short way of park.cc.
void bind_to_affine_call(worker* self) noexcept;
inline void leave_affine_call(worker* self) noexcept {
  if (self->host->affine != nullptr && self->host->affine->own == nullptr) [[unlikely]]
    bind_to_affine_call(self);
}
// The call ends, on its vproc.
void unbind_from_affine_call(affine_note& ended) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
