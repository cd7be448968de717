// SPDX-License-Identifier: MIT
// How the strand of an affine call comes back to its thread.
#include "nopal/sched/affine_call.h"

#include "nopal/sched/park.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/settings.h"

namespace nopal::inline NOPAL_ABI::sched {

bool affine_call::possible() noexcept {
#if defined(NOPAL_CHECKS)
  return false;
#else
  const vproc::worker* const self = vproc::current();
  return vproc::is_worker(self) && !self->group->closed && self->host->actions.empty() &&
         vproc::virtual_workers() == 0;
#endif
}

void affine_call::come_back() noexcept {
  vproc::strands_own();
  while (vproc::current()->host != note_.home) // a reclaimer may resume it elsewhere
    park([own = note_.own, home = note_.home](vproc::fiber* strand) {
      strand->group = own;
      vproc::enqueue_on(home, strand);
      return vproc::signal::stop();
    });
  vproc::enter();
  vproc::unbind_from_affine_call(note_);
  vproc::leave();
}

} // namespace nopal::inline NOPAL_ABI::sched
