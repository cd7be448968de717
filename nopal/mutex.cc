// SPDX-License-Identifier: MIT
// How a strand waits for a mutex or a condition, and who is made ready.
#include "nopal/mutex.h"

#include "nopal/base/check.h"
#include "nopal/sched/park.h"

#include "nopal/vproc/action.h"
#include "nopal/vproc/ready.h"

namespace nopal::inline NOPAL_ABI {

using vproc::fiber;
using vproc::signal;

void mutex::wait() {
  const auto join = [this](fiber* strand) {
    return queue_.join(strand) ? signal::stop() : signal::enter(strand);
  };
  if (!sched::park_or_stop(join, [this](fiber* strand) { queue_.leave(strand); }))
    join::throw_cancelled();
}

void mutex::lock_anyway() noexcept {
  if (!try_lock())
    sched::park([this](fiber* strand) {
      return queue_.join(strand) ? signal::stop() : signal::enter(strand);
    });
}

void mutex::hand_over() noexcept {
  const auto [was_held, next] = queue_.pass();
  NOPAL_ASSERT(was_held, "a nopal::mutex was unlocked that nobody had locked");
  if (next != nullptr)
    vproc::make_ready(next);
}

void condition_variable::wait(std::unique_lock<mutex>& lock) {
  mutex& held = *lock.mutex();
  const auto add = [this, &held](fiber* strand) {
    mutex& to_unlock = held; // what was captured is gone once the strand is resumed
    queue_.add(strand);
    to_unlock.unlock();
    return signal::stop();
  };
  const bool woken = sched::park_or_stop(add, [this](fiber* strand) { queue_.remove(strand); });
  held.lock_anyway();
  if (!woken)
    join::throw_cancelled();
}

void condition_variable::notify_one() noexcept {
  if (fiber* const first = queue_.take(sync::claimable{}))
    vproc::make_ready(first);
}

void condition_variable::notify_all() noexcept {
  for (fiber* first = queue_.take_all(sync::claimable{}); first != nullptr;) {
    fiber* const next = first->next_waiting; // the frame may end once it is ready
    vproc::make_ready(first);
    first = next;
  }
}

} // namespace nopal::inline NOPAL_ABI
