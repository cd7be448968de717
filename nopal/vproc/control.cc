// SPDX-License-Identifier: MIT
// How a worker learns that its strand has control words of its own.
#include "nopal/vproc/control.h"

#include "nopal/vproc/group.h"
#include "nopal/vproc/worker.h"

namespace nopal::inline NOPAL_ABI::vproc {

void note_control_change() noexcept {
  worker* const self = current();
  if (is_worker(self))
    self->set_own_control(arch::control_words::now() != self->group->control);
}

} // namespace nopal::inline NOPAL_ABI::vproc
