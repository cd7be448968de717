// SPDX-License-Identifier: MIT
// Strands that wait for a mutex, a condition or an event.
#include "nopal/fibers/waits.h"

#include "nopal/base/check.h"
#include "nopal/sched/park.h"
#include "nopal/vproc/ready.h"

namespace nopal::inline NOPAL_ABI::fibers {
namespace {

using vproc::fiber;
using vproc::signal;

// The queue is a mutex's or an event's. It lives until the strand is woken; but once the strand has
// joined, this object may be gone.
template <class Queue> signal join_or_enter(Queue& queue, fiber* strand) noexcept {
  return queue.join(strand) ? signal::stop() : signal::enter(strand);
}

template <class Queue> void join_and_wait(Queue& queue) {
  if (!sched::park_or_stop([&queue](fiber* strand) { return join_or_enter(queue, strand); },
                           [&queue](fiber* strand) { queue.leave(strand); }))
    join::throw_cancelled();
}

} // namespace

void wait_for(mutex_state& wanted) { join_and_wait(wanted); }

void hand_over(mutex_state& held) noexcept {
  const auto [was_held, next] = held.pass();
  NOPAL_ASSERT(was_held, "a nopal::mutex was unlocked that nobody had locked");
  if (next != nullptr)
    vproc::make_ready(next);
}

void wait_for(condition_state& condition, mutex_state& held) {
  const auto add = [&condition, &held](fiber* strand) {
    mutex_state& to_unlock = held; // what was captured is gone once the strand is resumed
    condition.add(strand);
    if (!to_unlock.try_free())
      hand_over(to_unlock);
    return signal::stop();
  };
  const bool woken =
      sched::park_or_stop(add, [&condition](fiber* strand) { condition.remove(strand); });
  if (!held.try_hold())
    sched::park([&held](fiber* strand) { return join_or_enter(held, strand); });
  if (!woken)
    join::throw_cancelled();
}

void notify_one(condition_state& condition) noexcept {
  if (fiber* const first = condition.take(sync::claimable{}))
    vproc::make_ready(first);
}

void notify_all(condition_state& condition) noexcept {
  vproc::make_all_ready(condition.take_all(sync::claimable{}));
}

void event::wait_slow() { join_and_wait(state_); }
void event::happen() noexcept { vproc::make_all_ready(state_.happen()); }

} // namespace nopal::inline NOPAL_ABI::fibers
