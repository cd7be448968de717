// SPDX-License-Identifier: MIT
// Strands that wait for a permit, a condition, an event or a time.
#include "nopal/fibers/waits.h"

#include "nopal/base/check.h"
#include "nopal/sched/park.h"
#include "nopal/vproc/ready.h"

namespace nopal::inline NOPAL_ABI::fibers {
namespace {

using vproc::fiber;
using vproc::signal;

template <class Queue> bool join_and_wait(Queue& queue, sync::wanted kind, time_point until) {
  return wait_until(
      until, kind, &queue, [&queue](fiber* strand) { return queue.join(strand); },
      [&queue](fiber* strand) { queue.leave(strand); });
}

} // namespace

bool wait_for(semaphore_state& from, sync::wanted kind, time_point until) {
  return join_and_wait(from, kind, until);
}

void release(semaphore_state& held, std::uint64_t number) noexcept {
  vproc::make_all_ready(held.give(number));
}

void hand_over(mutex_state& held) noexcept {
  const auto [was_held, next] = held.pass();
  NOPAL_ASSERT(was_held, "a nopal::mutex was unlocked that nobody had locked");
  if (next != nullptr)
    vproc::make_ready(next);
}

bool wait_for(condition_state& condition, mutex_state& held, time_point until) {
  timed own{until, sync::wanted::condition, &condition};
  timed& waits = stack::seen(own);
  const auto add = [&](fiber* strand) {
    condition.add(strand);
    if (!held.try_free())
      hand_over(held);
    return waits.begin(strand);
  };
  sched::park_or_stop(waits.decided(), add,
                      [&condition](fiber* strand) { condition.remove(strand); });
  if (!held.try_hold())
    sched::park([&held](fiber* strand) {
      return held.join(strand) ? signal::stop() : signal::enter(strand);
    });
  return waits.end();
}

void notify_one(condition_state& condition) noexcept {
  if (fiber* const first = condition.take(sync::claimable{}))
    vproc::make_ready(first);
}

void notify_all(condition_state& condition) noexcept {
  vproc::make_all_ready(condition.take_all(sync::claimable{}));
}

bool event::wait_slow(time_point until) {
  return join_and_wait(state_, sync::wanted::value, until);
}
void event::happen() noexcept { vproc::make_all_ready(state_.happen()); }

void sleep_until(time_point until) {
  wait_until(until, sync::wanted::time, nullptr, [](fiber*) { return true; }, [](fiber*) {});
}

} // namespace nopal::inline NOPAL_ABI::fibers
