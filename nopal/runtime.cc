// SPDX-License-Identifier: MIT
//
// runtime.h over the scheduler's pool.
#include "nopal/runtime.h"

#include "nopal/join/failure.h"
#include "nopal/sched/pool.h"

namespace nopal::inline NOPAL_ABI {

void configure(const options& asked) { sched::set_options(asked); }

unsigned num_workers() { return sched::options_in_force().num_workers.value; }

statistics stats() { return sched::measure(); }

std::uint64_t suppressed_exceptions() noexcept { return join::suppressed_by_last_join(); }

} // namespace nopal::inline NOPAL_ABI
