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

// The order of virtual workers, which the seed decides: any fiber of any queue. Of long queues only
// the first ones are chosen from, so that a turn does not cost as much as the queue is long.
fiber* take_at_random(vproc* taker) noexcept {
  constexpr std::uint32_t most = 64;
  const auto may_run = runs_when_bound_to(taker->bound.get());
  const auto one_of = [&](auto& queue, auto may) {
    const std::uint32_t count = queue.count();
    std::uint32_t before = count == 0 ? 0 : taker->random.below(count < most ? count : most);
    fiber* const drawn = queue.take([&](const fiber* each) { return may(each) && before-- == 0; });
    return drawn != nullptr ? drawn : queue.take(may); // some were counted that it may not run
  };
  const auto remote = [&] { return one_of(taker->remote, may_run); };
  const auto own = [&] { return one_of(taker->ready, sync::any_member{}); };
  const auto shared = [&] { return one_of(shared_ready, may_run); };
  taker->ready.begin_turn();
  taker->turn_over = false;
  const bool shared_first = taker->random.below(2) == 0;
  fiber* found = shared_first ? shared() : remote();
  found = found != nullptr ? found : shared_first ? remote() : own();
  return found != nullptr ? found : shared_first ? own() : shared();
}

} // namespace

// Each queue comes first now and then, since the one before it might never be empty; after a tick
// the shared fibers that were woken do.
fiber* take_ready(vproc* taker) noexcept {
  if (virtual_workers() > 1) [[unlikely]]
    return take_at_random(taker);
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
  const auto shared = [&] { return shared_ready.take(wanted, further); };
  const bool own_first = turn == 31;
  taker->ready.begin_turn(); // thieves see that the vproc turns to its fibers (ready_seen)
  if (taker->turn_over) [[unlikely]] {
    taker->turn_over = false;
    if (fiber* const woken = shared_ready.take_woken(wanted))
      return woken;
  }
  return further     ? first_of(shared, remote, own)
         : own_first ? first_of(own, remote, shared)
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
