// SPDX-License-Identifier: MIT
// The sums over all vprocs, and the line that shows them.
#include "nopal/sched/statistics.h"

#include "nopal/base/die.h"
#include "nopal/join/failure.h"
#include "nopal/sched/pool.h"
#include "nopal/sched/table.h"

namespace nopal::inline NOPAL_ABI::sched {

statistics measure() {
  statistics sum{};
  for (std::uint32_t i = 0; i < vprocs_ever(); ++i) {
    const vproc::counters& of = vproc_at(i)->count;
    sum.steals += of.steals.get();
    sum.suspensions += of.suspensions.get();
    sum.resumptions += of.resumptions.get();
    sum.sleeps += of.sleeps.get();
    sum.wakeups += of.wakeups.get();
  }
  const stack::usage stacks = stack::measure();
  sum.stacks = stacks.created;
  sum.stack_pages = stacks.resident_pages;
  sum.unmaps = stacks.unmaps;
  sum.pages_returned = stacks.pages_returned;
  sum.page_counts = stacks.counts;
  sum.charged_pages = stacks.charged_pages;
  sum.suppressed_exceptions = join::suppressed_in_total();
  return sum;
}

void print_statistics() {
  const statistics all = measure();
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  base::say(
      "%u workers, %llu steals, %llu suspensions, %llu resumptions, %llu sleeps, %llu wake-ups, "
      "%llu stacks with %llu pages now, %llu pages returned in %llu calls, %llu exceptions "
      "suppressed",
      options_in_force().num_workers.value, number(all.steals), number(all.suspensions),
      number(all.resumptions), number(all.sleeps), number(all.wakeups), number(all.stacks),
      number(all.stack_pages), number(all.pages_returned), number(all.unmaps),
      number(all.suppressed_exceptions));
}

} // namespace nopal::inline NOPAL_ABI::sched
