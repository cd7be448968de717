// SPDX-License-Identifier: MIT
// How a strand waits for a permit, a condition, an event or a time, and which strands are made
// ready then (nopal/mutex.h, nopal/semaphore.h, nopal/future.h, nopal/sleep.h). A wait throws
// `cancelled` if its strand is cancelled meanwhile, and returns false if the time comes first.
#pragma once

#include "nopal/base/child.h"
#include "nopal/config.h"
#include "nopal/fibers/timed.h"
#include "nopal/sync/once_event.h"
#include "nopal/sync/permit_queue.h"
#include "nopal/sync/shared_queue.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {
struct fiber;
}

namespace nopal::inline NOPAL_ABI::fibers {

using mutex_state = sync::permit_queue<vproc::fiber>;
using semaphore_state = sync::permit_queue<vproc::fiber>;
using condition_state = sync::shared_queue<vproc::fiber, sync::by_next_waiting>;

// Called where no permit was free. A strand that is cancelled, or has waited so long, gets none.
bool wait_for(semaphore_state& from, sync::wanted kind, time_point until = never);
// Called where strands want the mutex. Ends the program with a sentence if nobody holds it.
void hand_over(mutex_state& held) noexcept;

// Gives so many permits back.
void release(semaphore_state& held, std::uint64_t number) noexcept;

// The strand holds the mutex, before and after; also if it is cancelled.
bool wait_for(condition_state& condition, mutex_state& held, time_point until = never);
void notify_one(condition_state& condition) noexcept;
void notify_all(condition_state& condition) noexcept;

// Happens once, and many wait for it. It lives until `happen` and all `wait` have returned, but the
// strand that `wait` returned to first may destroy it.
class event {
public:
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() {
    if (state_.happened())
      state_.settle();
  }

  bool happened() const noexcept { return state_.happened(); }
  void wait(sync::wanted kind = sync::wanted::value) {
    if (!happened())
      wait_slow(kind);
  }
  // The same for a strand that waits also if it is cancelled.
  void wait_on() noexcept;
  void happen() noexcept;

private:
  void wait_slow(sync::wanted kind);

  sync::once_event<vproc::fiber> state_;
};

// A place in nopal::blocking, while it lives. Where as many strands have one as the option
// max_blocking says, the caller waits for one, in order. A strand that runs where another one
// blocks already needs none, nor does a thread that runs no strand.
class blocking_place {
public:
  blocking_place();
  ~blocking_place();
  blocking_place(const blocking_place&) = delete;
  blocking_place& operator=(const blocking_place&) = delete;

private:
  semaphore_state* const from_;                       // null: it needs none
  const std::uint32_t taken_in_ = base::this_process; // in the child of fork() none is given back
};

void sleep_until(time_point until);

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
