// SPDX-License-Identifier: MIT
#include "nopal/mutex.h"

#include "nopal/base/check.h"
#include "nopal/config.h"
#include "nopal/sched/waiting.h"

namespace nopal::inline NOPAL_ABI {

void mutex::wait() noexcept {
  sched::suspend(
      [](sched::waiter* strand, void* turn) {
        return static_cast<vproc::turn<sched::waiter>*>(turn)->join(strand);
      },
      &turn_);
}

void mutex::hand_over() noexcept {
  sched::waiter* const next = turn_.pass();
  NOPAL_ASSERT(next != nullptr, "a nopal::mutex was unlocked that nobody had locked");
  sched::make_ready(next);
}

void condition_variable::wait(std::unique_lock<mutex>& lock) noexcept {
  struct wait_of {
    vproc::locked_line<sched::waiter>& line;
    mutex& held;
  } all{line_, *lock.mutex()};
  sched::suspend(
      [](sched::waiter* strand, void* argument) {
        // The strand may go on, and `all` be gone, once it is in line.
        const wait_of copy = *static_cast<wait_of*>(argument);
        copy.line.add(strand);
        copy.held.unlock();
        return true;
      },
      &all);
  lock.mutex()->lock();
}

void condition_variable::notify_one() noexcept {
  if (sched::waiter* const first = line_.take_first())
    sched::make_ready(first);
}

void condition_variable::notify_all() noexcept {
  for (sched::waiter* first = line_.take_all(); first != nullptr;) {
    sched::waiter* const next = first->next; // the line of ready strands has its own
    sched::make_ready(first);
    first = next;
  }
}

} // namespace nopal::inline NOPAL_ABI
