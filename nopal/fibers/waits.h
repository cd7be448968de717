// SPDX-License-Identifier: MIT
// How a strand waits for a mutex, a condition or an event, and which strands are made ready then
// (nopal/mutex.h, nopal/future.h). A wait throws `cancelled` if its strand is cancelled meanwhile.
#pragma once

#include "nopal/config.h"
#include "nopal/sync/mutex_queue.h"
#include "nopal/sync/once_event.h"
#include "nopal/sync/shared_queue.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {
struct fiber;
}

namespace nopal::inline NOPAL_ABI::fibers {

using mutex_state = sync::mutex_queue<vproc::fiber>;
using condition_state = sync::shared_queue<vproc::fiber, sync::by_next_waiting>;

// Where the mutex was not free. A strand that is cancelled has it not.
void wait_for(mutex_state& wanted);
// Where strands want it. Ends the program with a sentence if nobody holds it.
void hand_over(mutex_state& held) noexcept;

// The strand holds the mutex, before and after; also if it is cancelled.
void wait_for(condition_state& condition, mutex_state& held);
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
  void wait() {
    if (!happened())
      wait_slow();
  }
  void happen() noexcept;

private:
  void wait_slow();

  sync::once_event<vproc::fiber> state_;
};

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
