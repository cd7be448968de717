// SPDX-License-Identifier: MIT
// How a strand waits for a mutex or a condition, and who is made ready.
#include "nopal/mutex.h"

#include "nopal/base/check.h"
#include "nopal/sched/park.h"

namespace nopal::inline NOPAL_ABI {

using vproc::fiber;
using vproc::signal;

void mutex::wait() noexcept {
  sched::park([this](fiber* strand) {
    return queue_.join(strand) ? signal::stop() : signal::enter(strand);
  });
}

void mutex::hand_over() noexcept {
  fiber* const next = queue_.pass();
  NOPAL_ASSERT(next != nullptr, "a nopal::mutex was unlocked that nobody had locked");
  sched::make_ready(next);
}

void condition_variable::wait(std::unique_lock<mutex>& lock) noexcept {
  mutex& held = *lock.mutex();
  sched::park([this, &held](fiber* strand) {
    mutex& to_unlock = held; // what was captured is gone once the strand is resumed
    queue_.add(strand);
    to_unlock.unlock();
    return signal::stop();
  });
  held.lock();
}

void condition_variable::notify_one() noexcept {
  if (fiber* const first = queue_.take())
    sched::make_ready(first);
}

void condition_variable::notify_all() noexcept {
  for (fiber* first = queue_.take_all(); first != nullptr;) {
    fiber* const next = first->next; // the ready queue writes it
    sched::make_ready(first);
    first = next;
  }
}

} // namespace nopal::inline NOPAL_ABI
