// SPDX-License-Identifier: MIT
// The counts of all workers, stacks and joins: stats() of runtime.h.
#pragma once

#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// The sums since the program began. Counters grow; reading them while workers run gives
// a value of each at some moment during the call.
struct NOPAL_TYPE statistics {
  std::uint64_t steals;         // continuations taken by a thief
  std::uint64_t suspensions;    // strands that stopped at a join to wait for children
  std::uint64_t resumptions;    // main paths resumed after a join with a steal, waited for or not
  std::uint64_t sleeps;         // times a worker went to sleep
  std::uint64_t wakeups;        // times a worker woke one for what it had published
  std::uint64_t preemptions;    // strands that the timer made give way
  std::uint64_t unmaps;         // times stack pages were given back
  std::uint64_t pages_returned; // pages given back; an upper bound if stack_budget is 0
  std::uint64_t page_counts;    // times the dead pages of a stack were counted
  std::uint64_t stacks;         // large stacks that exist
  std::uint64_t fiber_stacks;   // small ones, of spawned fibers, that exist
  std::uint64_t stack_pages;    // with memory now; reading it takes a system call a stack
  std::uint64_t charged_pages;  // dead ones at most, now; unless stack_budget is unlimited
  std::uint64_t suppressed_exceptions; // exceptions that gave way to a serially earlier one
};

statistics measure();

// The line of NOPAL_STATS=1, on standard error.
void print_statistics();

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
