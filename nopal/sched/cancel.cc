// SPDX-License-Identifier: MIT
// Telling all vprocs, and the calling strand's look at itself.
#include "nopal/sched/cancel.h"

#include "nopal/join/cancelable.h"
#include "nopal/join/cancelled.h"
#include "nopal/sched/alarms.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/table.h"
#include "nopal/sched/timer.h"

#include "nopal/sched/forks.h"
#include "nopal/sched/park.h"
#include "nopal/sched/pool.h"

#include <exception>
#if defined(NOPAL_CHECKS)
#include "nopal/base/die.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstring>
#endif

namespace nopal::inline NOPAL_ABI::sched {
namespace {

// Nodes that are cancelled, and failed children, for which strands are to stop.
join::tally stops;
join::tally alternatives;

#if defined(NOPAL_CHECKS)
bool is_of_the_language(const Dl_info& place) noexcept {
  return std::strstr(place.dli_fname, "libstdc++") != nullptr ||
         std::strstr(place.dli_fname, "libgcc") != nullptr;
}
// Says where a handler ends that has swallowed `cancelled`, if its strand is still to stop.
NOPAL_READS_FRAMES void say_if_swallowed() noexcept {
  if (!stops_here())
    return;
  std::array<void*, 8> callers;
  const int count = backtrace(callers.data(), static_cast<int>(callers.size()));
  for (int i = 2; i < count; ++i) { // after this function and the exception's destructor
    void* const at = callers[static_cast<std::size_t>(i)];
    Dl_info place{};
    if (dladdr(at, &place) == 0 || place.dli_fname == nullptr || is_of_the_language(place))
      continue;
    base::say("a handler has caught nopal::cancelled and not thrown it on, though its "
              "computation is cancelled; the next join or poll throws it again; the handler ends "
              "before %s+%#tx (%s)",
              place.dli_fname, static_cast<char*>(at) - static_cast<char*>(place.dli_fbase),
              place.dli_sname != nullptr ? place.dli_sname : "a function that is not exported");
    return;
  }
}
#endif

} // namespace

#if defined(NOPAL_CHECKS)
const bool says_what_is_swallowed = (join::after_handler = say_if_swallowed, true);
#endif

void announce_stop() noexcept {
  stops.add(1);
  const std::uint32_t count = vprocs_ever();
  for (std::uint32_t i = 0; i < count; ++i)
    vproc_at(i)->signals.tell(vproc::stop_requested);
  wake_cancelled();
}

void cancel(join::cancelable& node) noexcept {
  if (!node.mark())
    return;
  announce_stop();
  tell_observers();
}

void stop_ended(std::uint32_t times) noexcept {
  if (times != 0)
    stops.subtract(times);
}

bool anything_stops() noexcept { return stops.count() != 0; }

void look_at_next_fork(vproc::vproc* here) noexcept {
  if (anything_stops())
    here->signals.tell(vproc::stop_requested);
}

bool stops_here() noexcept {
  worker* const self = vproc::current();
  if (!vproc::is_worker(self) || !self->host->signals.told(vproc::stop_requested) ||
      std::uncaught_exceptions() != 0)
    return false;
  self->host->signals.take(vproc::stop_requested);
  if (!is_to_stop(arch::stack_pointer(), self))
    return false;
  self->host->signals.tell(vproc::stop_requested);
  return true;
}

void throw_cancelled() { throw cancelled{}; }

void stop_if_told() {
  if (stops_here())
    throw_cancelled();
}

bool finish_region(join::region_frame* scope) {
  const bool complete = finish_children(scope);
  stop_if_told();
  return complete;
}

void end_region(join::region_frame* scope) {
  if (scope->region->marked())
    stop_ended();
  if (!scope->needs_join())
    return;
  if (std::uncaught_exceptions() != 0)
    finish_join_in_destructor(scope);
  else
    finish_region(scope);
}

std::vector<const join::cancelable*> enclosing_regions() {
  return regions_above(arch::stack_pointer());
}

void begin_shield() noexcept { note_shield_begins(); }
void end_shield() noexcept {
  note_shield_ends();
  if (const worker* const self = vproc::current(); vproc::is_worker(self))
    look_at_next_fork(self->host);
}

void begin_alternatives() noexcept {
  start(); // or there is no timer yet
  alternatives.add(1);
  want_ticks();
}
void end_alternatives() noexcept { alternatives.subtract(1); }
bool any_alternatives() noexcept { return alternatives.count() != 0; }

} // namespace nopal::inline NOPAL_ABI::sched
