// SPDX-License-Identifier: MIT
// The thread that a publisher wakes. sync/README.md names each step.
#include "nopal/vproc/wake.h"

#include "nopal/base/child.h"
#include "nopal/vproc/table.h"

#include <memory>

namespace nopal::inline NOPAL_ABI::vproc {

sync::idle_count idle;

namespace {
// In the child of fork() nobody sleeps, and the thread that watched for events is not there.
NOPAL_IN_CHILD([]() noexcept {
  sync::watch* const events = idle.events.load(base::relaxed);
  std::construct_at(&idle);
  idle.events.store(events, base::relaxed);
  if (events != nullptr)
    events->leave();
});
} // namespace

// Begins at a random thread, so that wake-ups spread; the pool's vprocs stay in their table.
bool wake_pool_thread(worker* self) noexcept {
  const std::uint32_t count = pool_size();
  const std::uint32_t first = count == 0 || self == nullptr ? 0 : self->host->random.below(count);
  for (std::uint32_t i = 0; i < count; ++i)
    if (pool_vproc((first + i) % count)->parking.wake(idle))
      return true;
  return false;
}

// The thread that waits for this group is woken first: others may find work of another group.
void announce_work(worker* self, group* published) noexcept {
  if (idle.anybody_asleep() &&
      (published->parking.wake(idle) || (idle.wants_wake() && wake_pool_thread(self))) &&
      self != nullptr)
    self->host->count.wakeups.add(1);
}

// Not if threads search: one of them will find the fiber, unless this vproc runs it first.
void announce_ready(worker* self, group* published) noexcept {
  if (idle.may_want_wake())
    announce_work(self, published);
}

void wake(worker* self, sync::parking_place& sleeper) noexcept {
  base::full_fence(); // W
  if (sleeper.wake(idle))
    self->host->count.wakeups.add(1);
}

// The vproc's thread sleeps at one of two places, and only that thread knows at which.
void wake_vproc(worker* self, vproc* target, group* awaited) noexcept {
  base::full_fence(); // W
  bool woken = target->parking.wake(idle);
  if (awaited != nullptr && awaited->parking.wake(idle))
    woken = true;
  if (woken && self != nullptr)
    self->host->count.wakeups.add(1);
}

void wake_pool() noexcept {
  for (std::uint32_t i = 0; i < pool_size(); ++i)
    pool_vproc(i)->parking.wake(idle); // a thread that is bound sleeps at its group instead
}

} // namespace nopal::inline NOPAL_ABI::vproc
