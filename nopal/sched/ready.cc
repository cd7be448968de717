// SPDX-License-Identifier: MIT
//
// The line of strands that are ready, and threads that wait as such (vproc/lines.h).
#include "nopal/sched/waiting.h"

#include "nopal/base/os.h"
#include "nopal/config.h"

namespace nopal::inline NOPAL_ABI::sched {

namespace {

alignas(64) vproc::ready_line<waiter> ready;

auto of_computation(const seat* home) noexcept {
  return [home](const waiter* strand) { return home == nullptr || strand->left->home == home; };
}

} // namespace

void wait_as_thread(waiter& here) noexcept {
  const int error = *base::this_threads_error();
  if (here.enqueue(&here, here.argument))
    here.woken.wait();
  base::happens_after(&here);
  base::set_error(error);
}

void make_ready(waiter* strand) noexcept {
  base::happens_before(strand);
  if (strand->left == nullptr)
    return strand->woken.wake();
  seat* const home = strand->left->home;
  ready.add(strand);
  announce_ready(home);
}

waiter* take_ready(const seat* home) noexcept { return ready.take(of_computation(home)); }

bool any_ready(const seat* home) noexcept { return ready.holds(of_computation(home)); }

} // namespace nopal::inline NOPAL_ABI::sched
