// SPDX-License-Identifier: MIT
// Tells all vprocs, wakes strands that wait, and lets the calling strand look at itself.
#include "nopal/sched/stop.h"

#include "nopal/base/atomic.h"
#include "nopal/base/count.h"
#include "nopal/join/cancelled.h"
#include "nopal/join/failure.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/descent.h"
#include "nopal/vproc/meter.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/table.h"

#include <exception>
#include <vector>
#if defined(NOPAL_CHECKS)
#include "nopal/base/die.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstring>
#endif

namespace nopal::inline NOPAL_ABI::sched {
base::count announced_stops;

namespace {

constexpr std::size_t kFew = 64;

// Whether the fiber is one of this computation, or of one that a fiber of it waits for.
bool is_below(const fiber_context* inner, const vproc::computation& outer) noexcept {
  while (inner != nullptr && inner->computation != &outer)
    inner = inner->computation->waiting->context;
  return inner != nullptr;
}

void tell_vprocs() noexcept {
  announced_stops.add(); // K2 of sync/README.md: before any vproc is told
  vproc::for_each_live_vproc(
      [](vproc::vproc* each) { each->signals.tell(sync::stop_requested); }); // K3
  base::full_fence();                                                        // K4
}

#if defined(NOPAL_CHECKS)
bool is_of_the_language(const Dl_info& place) noexcept {
  return std::strstr(place.dli_fname, "libstdc++") != nullptr ||
         std::strstr(place.dli_fname, "libgcc") != nullptr;
}
// Called at the end of a handler that has swallowed `cancelled`: says where, if its strand is still
// to stop.
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

void announce_stop(join::ancestor& node, std::uintptr_t also_on,
                   void (*see)(join::descendant*, void*), void* argument) noexcept {
  tell_vprocs();
  // Without a vproc there is no stack yet, and the thread that makes one sees the count (count.h).
  if (vproc::vprocs_ever() != 0 && stack::is_ours(also_on))
    wake_if_cancelled(stack::stack_of(also_on));
  std::vector<stack::stack_id> stacks;
  const auto collect = [&](join::descendant* each) { // K5
    if (each->tag() == join::descendant::kind::stack)
      stacks.push_back(stack_of(each));
    else if (see != nullptr)
      see(each, argument);
  };
  node.for_each_below(collect);
  below_several().for_each_below(collect);
  // Without the locks, which strands want that go on. Where many stop, the calling vproc would keep
  // those that it makes ready, and others would not take them while it turns to them itself.
  const bool for_all = stacks.size() > kFew;
  constexpr std::size_t kAhead = 8; // nothing of so many stacks is in a cache
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (i + kAhead < stacks.size())
      __builtin_prefetch(&wait_word_of(stacks[i + kAhead]));
    wake_if_cancelled(stacks[i], {.for_all = for_all}); // K6
  }
}

void announce_stop_of_fibers(const vproc::computation& failed) noexcept {
  tell_vprocs();
  wake_all_cancelled({.in = &failed});
}

void wake_all_cancelled(const waker& how) noexcept {
  for (const stack::slot_range* const range : {&stack::large_ones, &stack::small::in_use})
    for (std::uint32_t i = 0; i < range->created(); ++i)
      if (range->is_usable(i))
        wake_if_cancelled(range->start(i), how);
}

void wake_if_cancelled(stack::stack_id on, const waker& how) noexcept {
  sync::wait_word& word = wait_word_of(on);
  auto* const strand = static_cast<fiber*>(word.hold());
  if (strand == nullptr)
    return;
  if (how.see != nullptr)
    how.see(*strand->waits, how.argument);
  bool concerned = how.in == nullptr || is_below(strand->context, *how.in);
  do {
    if (concerned &&
        is_to_stop({strand->stack_pointer, strand->left, strand->state.exceptions.uncaught, on}) &&
        strand->waits->claim(sync::choice::cancelled))
      how.for_all ? vproc::make_ready_for_all(strand) : vproc::make_ready(strand);
    concerned = true; // another canceller found the strand held: its mark may be newer
  } while (!word.let_go(strand));
}

void stop_ended(std::uint32_t times) noexcept {
  if (times != 0) // most joins end nothing, and leave the shared word alone
    announced_stops.subtract(times);
}

void look_at_next_fork() noexcept {
  worker* const self = vproc::current();
  if (anything_stops() && vproc::is_worker(self)) [[unlikely]]
    self->host->signals.tell(sync::stop_requested);
  if (vproc::meter::any() && vproc::is_worker(self)) [[unlikely]]
    self->interrupt();
}

bool stops_here() noexcept {
  const worker* const self = vproc::current();
  return vproc::is_worker(self) && self->host->signals.raised(sync::stop_requested) &&
         stops_amid(static_cast<unsigned>(std::uncaught_exceptions()));
}

bool stops_amid(unsigned uncaught) noexcept {
  worker* const self = vproc::current();
  if (!self->host->signals.raised(sync::stop_requested))
    return false;
  // Taken before the walk: a canceller that marks during the walk raises it again.
  self->host->signals.take(sync::stop_requested);
  const bool to_stop = is_to_stop({arch::stack_pointer(), self, uncaught});
  if (to_stop || (uncaught != 0 && anything_stops()))
    self->host->signals.tell(sync::stop_requested); // each later fork and poll comes here
  return to_stop;
}

void stop_if_told() {
  if (stops_here())
    join::throw_cancelled();
}

} // namespace nopal::inline NOPAL_ABI::sched
