// SPDX-License-Identifier: MIT
// The sums over all vprocs, and the line that shows them.
#include "nopal/vproc/statistics.h"

#include "nopal/base/die.h"
#include "nopal/join/failure.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/table.h"

namespace nopal::inline NOPAL_ABI::vproc {

// Each counter is written by its vproc's thread alone (vproc.h), so the sums need no lock.
statistics measure() {
  statistics sum{};
  for (std::uint32_t i = 0; i < vprocs_ever(); ++i) {
    const counters& count = vproc_at(i)->count;
    sum.steals += count.steals.get();
    sum.suspensions += count.suspensions.get();
    sum.resumptions += count.resumptions.get();
    sum.sleeps += count.sleeps.get();
    sum.wakeups += count.wakeups.get();
    sum.preemptions += count.preemptions.get();
  }
  const stack::usage stacks = stack::measure();
  sum.stacks = stacks.created;
  sum.fiber_stacks = stacks.small_created;
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
  base::say("%u workers, %lu steals, %lu suspensions, %lu resumptions, %lu sleeps, %lu wake-ups, "
            "%lu preemptions, %lu stacks with %lu pages now, %lu pages returned in %lu calls, "
            "%lu stacks of fibers, %lu exceptions suppressed",
            options_in_force().num_workers.value, all.steals, all.suspensions, all.resumptions,
            all.sleeps, all.wakeups, all.preemptions, all.stacks, all.stack_pages,
            all.pages_returned, all.unmaps, all.fiber_stacks, all.suppressed_exceptions);
}

} // namespace nopal::inline NOPAL_ABI::vproc
