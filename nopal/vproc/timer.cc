// SPDX-License-Identifier: MIT
// The timer's thread.
//
// Orders: R  the timer, before it sleeps: resting = 1, heavy barrier, looks at all vprocs.
//            want_ticks: a fiber was made ready, light barrier, loads resting. Either the timer
//            sees the fiber, or the other thread wakes the timer.
#include "nopal/vproc/timer.h"

#include "nopal/base/atomic.h"
#include "nopal/base/child.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/join/cancelable.h"
#include "nopal/vproc/ready_queues.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/threads.h"
#include "nopal/vproc/wake.h"

#include <algorithm>
#include <utility>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

constexpr unsigned kQuietTicks = 8; // the timer sleeps after these, at which nothing competed
constexpr unsigned kPatience = 5;   // ticks

enum : std::uint32_t { ticking, resting, not_started, off };

// Read whenever a fiber becomes ready, and written seldom; so it has a cache line to itself.
alignas(64) base::atomic<std::uint32_t> state{off};
bool fenced = false;
unsigned tick_us = 0;
constexpr unsigned kMostStandIns = 256;
base::atomic<unsigned> standing_in{0};
bool said_that_none_is_left = false; // used by the timer's thread
stand_ins calls{nullptr, nullptr};
unsigned ignored[most_vprocs]; // of each vproc: ticks in a row whose signal it has not taken. Only
                               // the timer's thread uses this.

base::count alternatives;

// In the child of fork() the timer is not open. What `alternatives` counts may still end.
NOPAL_IN_CHILD([]() noexcept {
  state.store(off, base::relaxed);
  standing_in.store(0, base::relaxed);
  said_that_none_is_left = false;
});

// Whether the vproc's strand keeps something else from running. A wrong answer costs a tick.
bool competes(const vproc* host) noexcept {
  return host->runs.get() && !host->blocked.any() &&
         (any_alternatives() || seem_ready(host) != 0 || !host->actions.empty());
}

void stand_in_for(vproc* host) noexcept {
  if (host->stood_in.load(base::relaxed))
    return;
  if (standing_in.load(base::relaxed) >= kMostStandIns) {
    if (!std::exchange(said_that_none_is_left, true))
      base::say("%u strands run code that neither forks nor polls, and others are ready; no more "
                "threads stand in for such strands, so call nopal::poll there",
                kMostStandIns);
    return;
  }
  standing_in.fetch_add(1, base::relaxed);
  calls.lend(host);
}

template <class Wanted> bool any_vproc(Wanted wanted) noexcept {
  for (std::uint32_t i = 0; i < vprocs_ever(); ++i)
    if (wanted(vproc_at(i)))
      return true;
  return false;
}

// The watch for events, if nobody has it because all run strands (sync/watch.h); else null.
const sync::watch* unattended_watch() noexcept {
  const sync::watch* const events = idle.events.load(base::acquire);
  const auto runs = [](const vproc* host) { return host->runs.get(); };
  return events != nullptr && !events->taken() && any_vproc(runs) ? events : nullptr;
}

// Returns whether anything competed.
bool tick() noexcept {
  const sync::watch* const events = unattended_watch();
  if (events != nullptr)
    events->call.look();
  bool any = events != nullptr;
  const std::uint32_t count = vprocs_ever();
  for (std::uint32_t i = 0; i < count; ++i) {
    vproc* const host = vproc_at(i);
    if (!competes(host)) {
      ignored[i] = 0;
      continue;
    }
    any = true;
    ignored[i] = host->signals.raised(sync::preempt_requested) ? ignored[i] + 1 : 0;
    if (ignored[i] >= kPatience)
      stand_in_for(host);
    host->signals.tell(sync::preempt_requested);
  }
  return any;
}

bool anything_competes() noexcept { return unattended_watch() != nullptr || any_vproc(competes); }

void rest() noexcept {
  state.store(resting, base::seq_cst); // R
  base::heavy_barrier();               // R
  // If the exchange fails, want_ticks has set `ticking` meanwhile, and the loop ends at once.
  std::uint32_t expected = resting;
  if (anything_competes() &&
      state.compare_exchange_strong(expected, ticking, base::relaxed, base::relaxed))
    return;
  idle.waiting.count_in();
  while (state.load(base::relaxed) == resting)
    base::futex_wait(state, resting);
  idle.waiting.count_out();
}

[[noreturn]] void* run_timer(void*) noexcept {
  std::ranges::fill(ignored, 0u); // the parent's timer used it, if this is the child of fork()
  for (unsigned quiet = 0;;) {
    idle.waiting.count_in(); // a tick finds nothing to do where all others wait
    base::sleep_us(tick_us);
    idle.waiting.count_out();
    quiet = tick() ? 0 : quiet + 1;
    if (quiet < kQuietTicks)
      continue;
    rest();
    quiet = 0;
  }
}

// Several threads may come here; the exchange lets one of them start or wake the timer.
[[gnu::noinline]] void begin_ticks(std::uint32_t seen) noexcept {
  if (seen == off || !state.compare_exchange_strong(seen, ticking, base::acq_rel, base::relaxed))
    return;
  if (seen == not_started)
    start_helper(run_timer, "preempts strands (NOPAL_TICK=0 does without)");
  else
    base::futex_wake_one(state);
}

} // namespace

void open_timer(bool without_barrier, unsigned tick_ms, stand_ins use) noexcept {
  fenced = without_barrier;
  calls = use;
  tick_us = tick_ms * 1000;
  state.store(tick_ms == 0 ? off : not_started, base::relaxed);
}

void want_ticks() noexcept {
  if (fenced)
    base::full_fence();
  else
    base::light_barrier(); // R
  if (const std::uint32_t seen = state.load(base::relaxed); seen != ticking)
    begin_ticks(seen);
}

void heed_preemption(vproc* host) noexcept {
  host->signals.take(sync::preempt_requested); // first: from now on `ignored` starts at 0 again
  host->turn_over = true;
  if (!host->stood_in.load(base::relaxed) || !host->stood_in.exchange(false, base::acq_rel))
    return;
  standing_in.fetch_sub(1, base::relaxed);
  calls.take_back(host);
}

void begin_alternatives() noexcept {
  alternatives.add();
  want_ticks();
}
void end_alternatives() noexcept { alternatives.subtract(); }
bool any_alternatives() noexcept { return alternatives.any(); }

} // namespace nopal::inline NOPAL_ABI::vproc
