// SPDX-License-Identifier: MIT
// Strands that wait for a permit, a condition, an event or a time.
#include "nopal/fibers/waits.h"

#include "nopal/base/check.h"
#include "nopal/base/die.h"
#include "nopal/base/flag.h"
#include "nopal/base/os.h"
#include "nopal/base/per_process.h"
#include "nopal/fibers/fibers.h"
#include "nopal/fibers/ordered_strands.h"
#include "nopal/sched/park.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/strand.h"
#include "nopal/vproc/worker.h"

namespace nopal::inline NOPAL_ABI::fibers {
namespace {

using vproc::fiber;
using vproc::signal;

template <class Queue> bool join_and_wait(Queue& queue, sync::wanted kind, time_point until) {
  if (has_passed(until))
    return false;
  return wait_until(
      until, kind, &queue,
      [&queue](fiber* strand) {
        const ordered_strands meet{&queue};
        return queue.join(strand);
      },
      [&queue](fiber* strand) {
        const ordered_strands meet{&queue};
        queue.leave(strand);
      });
}

// Also if the strand is cancelled.
void hold(mutex_state& wanted) noexcept {
  if (!wanted.try_hold())
    sched::park([&wanted](fiber* strand) {
      const ordered_strands meet{&wanted};
      return wanted.join(strand) ? signal::stop() : signal::enter(strand);
    });
}

semaphore_state* blocking_places() {
  const vproc::worker* const self = vproc::current();
  if (!vproc::is_worker(self) || vproc::virtual_workers() != 0 || self->host->blocked.any())
    return nullptr;
  static constinit base::per_process<semaphore_state> all; // strands block as long as it lives
  return &all.get(vproc::options_in_force().max_blocking.value);
}

} // namespace

bool wait_for(semaphore_state& from, sync::wanted kind, time_point until) {
  return join_and_wait(from, kind, until);
}

void release(semaphore_state& held, std::uint64_t number) noexcept {
  const ordered_strands meet{&held};
  vproc::make_all_ready(held.give(number));
}

void hand_over(mutex_state& held) noexcept {
  const ordered_strands meet{&held};
  const auto [was_held, next] = held.pass();
  NOPAL_ASSERT(was_held, "a nopal::mutex was unlocked that nobody had locked");
  if (next != nullptr)
    vproc::make_ready(next);
}

// A strand that asks whether the condition holds by now: others have the mutex meanwhile.
static void let_others_have(mutex_state& held) {
  sched::stop_point();
  if (!held.try_free())
    hand_over(held);
  if (vproc::on_strand())
    sched::end_turn();
  else
    base::give_way();
  hold(held);
}

bool wait_for(condition_state& condition, mutex_state& held, time_point until) {
  if (has_passed(until)) {
    let_others_have(held);
    return false;
  }
  timed own{until, sync::wanted::condition, &condition};
  timed& waits = stack::seen(own);
  const auto add = [&](fiber* strand) {
    {
      const ordered_strands meet{&condition};
      condition.add(strand);
    }
    if (!held.try_free())
      hand_over(held);
    return waits.begin(strand);
  };
  sched::park_or_stop(waits.decided(), add, [&condition](fiber* strand) {
    const ordered_strands meet{&condition};
    condition.remove(strand);
  });
  hold(held);
  return waits.end();
}

void notify_one(condition_state& condition) noexcept {
  const ordered_strands meet{&condition};
  if (fiber* const first = condition.take(sync::claimable{}))
    vproc::make_ready(first);
}

void notify_all(condition_state& condition) noexcept {
  const ordered_strands meet{&condition};
  vproc::make_all_ready(condition.take_all(sync::claimable{}));
}

void event::wait_slow(sync::wanted kind) { join_and_wait(state_, kind, never); }
void event::wait_on() noexcept {
  if (happened())
    return;
  sched::park([this](fiber* strand) {
    const ordered_strands meet{&state_};
    return state_.join(strand) ? signal::stop() : signal::enter(strand);
  });
}
void event::happen() noexcept {
  const ordered_strands meet{&state_};
  vproc::make_all_ready(state_.happen());
}

blocking_place::blocking_place() : from_{blocking_places()} {
  if (from_ == nullptr || from_->try_hold())
    return;
  static base::flag said;
  if (said.take())
    base::say("%u strands are in nopal::blocking, each with a thread, and further calls wait until "
              "one of them returns; if they wait for each other, raise NOPAL_MAX_BLOCKING",
              vproc::options_in_force().max_blocking.value);
  wait_for(*from_, sync::wanted::blocking);
}

blocking_place::~blocking_place() {
  if (from_ != nullptr && taken_in_ == base::this_process)
    release(*from_, 1);
}

void sleep_until(time_point until) {
  if (has_passed(until))
    return yield();
  wait_until(until, sync::wanted::time, nullptr, [](fiber*) { return true; }, [](fiber*) {});
}

} // namespace nopal::inline NOPAL_ABI::fibers
