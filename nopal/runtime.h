// SPDX-License-Identifier: MIT
//
// The runtime seen from outside: how many workers, with what options, and what they did.
//
// Nothing here has to be called. The runtime starts at the first fork, with what the environment
// and the machine say, and ends with the process.
#pragma once

#include "nopal/base/options.h"
#include "nopal/config.h"

#include <cstdint>

namespace nopal::inline NOPAL_ABI {

// What a program may ask for; see base/options.h for each field, its unit and its environment
// variable. Precedence: program, environment, then the machine (cgroup quota, affinity mask, CPUs
// online).
using options = base::options;
using base::bind;
using base::stack_policy;

// Takes effect at the first fork. Ends the program with a sentence if that has been, or later, at
// the first fork, if a value is not accepted. Thread rules: any thread, before the first fork.
void configure(const options& asked);

// Threads that run strands when one foreign thread, `main` say, has forked: it and the pool's. Each
// further foreign thread that forks at the same time adds itself. Resolves the options when they
// are not yet.
unsigned num_workers();

// What all workers did since the program began. Counters grow; reading them while workers run gives
// a value of each at some moment during the call.
struct statistics {
  std::uint64_t steals;         // continuations taken by a thief
  std::uint64_t suspensions;    // strands that stopped at a join to wait for children
  std::uint64_t resumptions;    // strands that went on after such a join
  std::uint64_t sleeps;         // times a worker went to sleep
  std::uint64_t wakeups;        // times one was woken for work
  std::uint64_t unmaps;         // times stack pages were given back
  std::uint64_t pages_returned; // pages given back
  std::uint64_t page_counts;    // with policy budget: times the dead pages of a stack were counted
  std::uint64_t stacks;         // stacks that exist
  std::uint64_t
      stack_pages; // pages of all stacks that have memory now (takes a system call a stack)
  std::uint64_t charged_pages;   // with policy budget: dead pages there are at most, now
  std::uint64_t most_live_pages; // with NOPAL_CENSUS=1: the most pages with frames, and the most
  std::uint64_t most_dead_pages; // dead ones, that stacks nobody runs on have had together
  std::uint64_t suppressed_exceptions; // exceptions that gave way to a serially earlier one
};
statistics stats();

// In a handler of an exception that came from a join or from invoke: how many other exceptions of
// the same join gave way to it. Valid until the strand's next fork or join.
std::uint64_t suppressed_exceptions() noexcept;

#if defined(NOPAL_SERIAL)
// The serial elision has no runtime: one worker, no options to heed, nothing to count.
inline void configure(const options&) {}
inline unsigned num_workers() { return 1; }
inline statistics stats() { return {}; }
inline std::uint64_t suppressed_exceptions() noexcept { return 0; }
#endif

} // namespace nopal::inline NOPAL_ABI
