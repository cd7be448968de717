// SPDX-License-Identifier: MIT
// Tells the worker whether its strand still computes as its group does.
#include "nopal/floating_point.h"

#include "nopal/vproc/group.h"
#include "nopal/vproc/worker.h"

namespace nopal::inline NOPAL_ABI {

void floating_point::note_change() noexcept {
  vproc::worker* const self = vproc::current();
  if (vproc::is_worker(self))
    self->set_own_control(arch::control_words::now() != self->group->control);
}

} // namespace nopal::inline NOPAL_ABI
