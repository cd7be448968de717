// SPDX-License-Identifier: MIT
// errno and the exception state belong to the thread, the control words to the processor.
#include "nopal/vproc/strand.h"

namespace nopal::inline NOPAL_ABI::vproc {

join::strand_state take_strand_state(const worker* self) noexcept {
  const bool alive = self->host->exceptions->alive();
  return {alive ? join::take_exception_state() : join::no_exceptions, *self->host->error,
          arch::control_words::now()};
}

void put_strand_state(worker* self, const join::strand_state& state, bool own_control) noexcept {
  put_control(self, state.control, own_control);
  if (state.exceptions.alive() || self->host->exceptions->alive())
    join::put_exception_state(state.exceptions);
  *self->host->error = state.error;
}

void put_control(worker* self, const arch::control_words& control, bool own_control) noexcept {
  (own_control ? control : self->group->control).use();
  self->set_own_control(own_control);
}

} // namespace nopal::inline NOPAL_ABI::vproc
