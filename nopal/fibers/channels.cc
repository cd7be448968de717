// SPDX-License-Identifier: MIT
// One of several hand-overs: at once, or by the strand that comes next.
#include "nopal/fibers/channels.h"

#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/park.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/ready.h"

#include <algorithm>

namespace nopal::inline NOPAL_ABI::fibers {
namespace {

using offer = sync::offer<fiber>;

// The values change hands before the other strand may go on.
bool meet_one(const alternative& mine) noexcept {
  offer* const other = mine.at->take(sync::opposite(mine.wants));
  if (other == nullptr)
    return false;
  base::happens_after(other);
  if (mine.wants == side::sending)
    mine.move(mine.own.value, other->value);
  else
    mine.move(other->value, mine.own.value);
  vproc::make_ready(other->strand);
  return true;
}

std::size_t meet_any(const alternative* of, std::size_t count) noexcept {
  const vproc::worker* const self = vproc::current();
  const std::size_t first = count > 1 && vproc::is_worker(self)
                                ? self->host->random.below(static_cast<std::uint32_t>(count))
                                : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t number = (first + i) % count;
    if (meet_one(of[number]))
      return number;
  }
  return none_possible;
}

// Returns the first.
alternative* in_order_of_places(alternative* of, std::size_t count) noexcept {
  alternative* first = nullptr;
  for (alternative* one = of; one != of + count; ++one) {
    alternative** at = &first;
    while (*at != nullptr && (*at)->at < one->at)
      at = &(*at)->next_locked;
    one->next_locked = *at;
    *at = one;
  }
  return first;
}

// Calls `f` for each place once; the list names each place's alternatives one after the other. It
// is not read after the last call: when the last place is unlocked, the strand may go on, and only
// its wait word keeps its frame.
template <class F> void for_each_place(const alternative* first, F f) noexcept {
  for (const alternative* one = first; one != nullptr;) {
    const alternative* const next = one->next_locked;
    if (next == nullptr || next->at != one->at)
      f(*one->at);
    one = next;
  }
}

// Publishes all offers at once. False: one is possible meanwhile, and none was published.
bool publish_all(alternative* first, fiber* strand) noexcept {
  bool possible = false;
  for_each_place(first, [](meeting_place& at) { at.lock().lock(); });
  for (alternative* one = first; one != nullptr; one = one->next_locked)
    possible = possible || one->at->awaited(sync::opposite(one->wants));
  for (alternative* one = first; one != nullptr && !possible; one = one->next_locked) {
    one->own.strand = strand;
    base::happens_before(&one->own);
    one->at->publish(one->wants, &one->own);
  }
  // A place whose lock is free may be gone soon, but not before its neighbours were unlocked: the
  // strand withdraws from all of them.
  for_each_place(first, [](meeting_place& at) { at.lock().unlock(); });
  return !possible;
}

struct wait {
  alternative* first;
  bool published = false;

  static signal publish(fiber* strand, void* one) noexcept {
    auto* const self = static_cast<wait*>(one);
    self->published = true; // before another thread may resume the strand
    if (publish_all(self->first, strand))
      return signal::stop();
    self->published = false;
    return signal::enter(strand);
  }
};

} // namespace

std::size_t do_one(alternative* of, std::size_t count, bool may_wait) {
  sync::choice any;
  for (std::size_t i = 0; i < count; ++i) {
    of[i].own.shared = &any;
    of[i].own.number = static_cast<std::uint32_t>(i);
  }
  alternative* const first = may_wait ? in_order_of_places(of, count) : nullptr;
  for (;;) {
    const std::size_t met = meet_any(of, count);
    if (met != none_possible || !may_wait)
      return met;
    wait wait_for{first};
    sched::park_or_stop(any, wait::publish, [](fiber*, void*) {}, &wait_for);
    if (wait_for.published)
      break;
  }
  const std::size_t taken = any.taken();
  if (count == 1 && taken == 0)
    return 0;
  for (std::size_t i = 0; i < count; ++i)
    if (i != taken)
      of[i].at->withdraw(of[i].wants, &of[i].own);
  if (taken == sync::choice::cancelled)
    join::throw_cancelled();
  return taken;
}

void check_nobody_waits(const meeting_place& at) noexcept {
  NOPAL_ASSERT(at.empty(side::sending) && at.empty(side::receiving),
               "a nopal::channel was destroyed while a strand waits to send or to receive there; "
               "let it live until all have ended that use it");
}

} // namespace nopal::inline NOPAL_ABI::fibers
