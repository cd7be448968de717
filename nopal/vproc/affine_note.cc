// SPDX-License-Identifier: MIT
// A vproc is bound to an affine call by a group in which nothing else runs.
#include "nopal/vproc/affine_note.h"

#include "nopal/vproc/ready.h"
#include "nopal/vproc/table.h"

namespace nopal::inline NOPAL_ABI::vproc {

void bind_to_affine_call(worker* self) noexcept {
  vproc* const host = self->host;
  group* const own = take_group();
  own->host = host;
  own->closed = false;
  own->outer = self; // the place is lent as that of a thread that waits in a region
  own->control = host->affine->around->control;
  share_ready(host); // before it is bound: its own queue then has the group's fibers only
  own->outer_role.bound.set(host->bound.get());
  host->bound.set(own);
  host->affine->own = own;
}

void unbind_from_affine_call(affine_note& ended) noexcept {
  current()->group = ended.around;
  ended.home->bound.set(ended.own->outer_role.bound.get());
  return_group(ended.own);
}

} // namespace nopal::inline NOPAL_ABI::vproc
