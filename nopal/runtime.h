// SPDX-License-Identifier: MIT
//
// The runtime seen from outside: how many workers, with what options, and what they did.
//
// Nothing here has to be called. The runtime starts at the first fork, with what the environment
// and the machine say, and ends with the process.
#pragma once

#include "nopal/config.h"
#include "nopal/config/options.h"
#include "nopal/sched/statistics.h"

#include <cstdint>

namespace nopal::inline NOPAL_ABI {

// What a program may ask for; see config/options.h for each field, its unit and its environment
// variable. Precedence: program, environment, then the machine (cgroup quota, affinity mask, CPUs
// online).
using options = config::options;
using config::bind;
using config::unlimited; // a stack_budget

// Takes effect at the first fork. Ends the program with a sentence if that has been, or later, at
// the first fork, if a value is not accepted. Thread rules: any thread, before the first fork.
void configure(const options& asked);

// Threads that run strands when one foreign thread, `main` say, has forked: it and the pool's. Each
// further foreign thread that forks at the same time adds itself. Resolves the options when they
// are not yet.
unsigned num_workers();

// What all workers did since the program began; see sched/statistics.h for each field.
using sched::statistics;
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
