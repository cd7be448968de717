// SPDX-License-Identifier: MIT
// errno and the exception state belong to the thread, the control words to the processor.
#include "nopal/vproc/strand.h"

#include <utility>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

struct outside_strands {
  join::partials* partials = nullptr;
  ~outside_strands() { join::partials::deliver_all(partials); }
};

} // namespace

// Not inlined: a compiler would keep the place across a change of threads.
[[gnu::noinline]] join::partials*& partials_of_thread() noexcept {
  static thread_local outside_strands own;
  return own.partials;
}

join::partials*& own_partials() noexcept {
  worker* const self = current();
  return is_worker(self) ? self->partials : partials_of_thread();
}

void deliver_partials() noexcept { join::partials::deliver_all(current()->partials); }

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
