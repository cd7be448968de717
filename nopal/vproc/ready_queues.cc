// SPDX-License-Identifier: MIT
// The order in which a vproc looks at its three queues.
#include "nopal/vproc/ready_queues.h"

#include "nopal/base/child.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/table.h"

#include <memory>

namespace nopal::inline NOPAL_ABI::vproc {

shared_fibers shared_ready;

namespace {
// Fibers that are ready at fork() run in the parent.
NOPAL_IN_CHILD([]() noexcept { std::construct_at(&shared_ready); });
} // namespace

// Each queue comes first now and then, since the one before it might never be empty; after a tick
// the shared fibers that were woken do.
fiber* take_ready(vproc* taker) noexcept {
  const auto wanted = runs_when_bound_to(taker->bound.get());
  const auto remote = [&] { return taker->remote.take(wanted); };
  const auto own = [&] { return taker->ready.take(); };
  const auto first_of = [](auto... from) {
    fiber* first = nullptr;
    static_cast<void>(((first = from()) || ...));
    return first;
  };
  const std::uint32_t turn = taker->ready.turns() % 64;
  const bool further = turn == 63;
  const bool shared_first = virtual_workers() > 1 ? taker->random.below(2) == 0 : further;
  const auto shared = [&] { return shared_ready.take(wanted, further); };
  const bool own_first = turn == 31;
  taker->ready.begin_turn(); // thieves see that the vproc turns to its fibers (ready_seen)
  if (taker->turn_over) [[unlikely]] {
    taker->turn_over = false;
    if (fiber* const woken = shared_ready.take_woken(wanted))
      return woken;
  }
  return shared_first ? first_of(shared, remote, own)
         : own_first  ? first_of(own, remote, shared)
                      : first_of(remote, own, shared);
}

bool any_ready(vproc* taker) noexcept {
  const auto wanted = runs_when_bound_to(taker->bound.get());
  return !taker->ready.empty() || taker->remote.holds(wanted) || shared_ready.holds(wanted);
}

bool any_ready_of(const group* wanted) noexcept {
  return shared_ready.holds(runs_when_bound_to(wanted));
}

std::uint32_t seem_ready(const vproc* taker) noexcept {
  return taker->ready.count() + taker->remote.count() + shared_ready.count();
}

namespace {

// What a thief may take of the fibers that another vproc keeps.
auto may_be_stolen_by(const vproc* thief) noexcept {
  return [may_run = runs_when_bound_to(thief->bound.get())](const fiber* strand) {
    return may_run(strand) && !strand->is_pinned();
  };
}

} // namespace

bool may_steal_ready(vproc* thief) noexcept {
  return any_other_vproc(
      thief, [&](vproc* victim) { return victim->ready.holds(may_be_stolen_by(thief)); });
}

fiber* steal_ready(vproc* thief, ready_seen& before) noexcept {
  fiber* taken = nullptr;
  ready_seen now;
  any_other_vproc(thief, [&](vproc* victim) {
    if (victim->ready.empty())
      return false;
    now.turns += victim->ready.turns();
    now.any = true;
    // The sums agree at the last of these vprocs only, if none of them has turned to its fibers.
    if (before.any && before.turns == now.turns)
      taken = victim->ready.steal(may_be_stolen_by(thief));
    return taken != nullptr;
  });
  before = now;
  return taken;
}

} // namespace nopal::inline NOPAL_ABI::vproc
