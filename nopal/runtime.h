// SPDX-License-Identifier: MIT
// The runtime seen from outside: the number of workers, their options, and what they did.
//
// No program has to call these functions. The runtime starts at the first fork, with options from
// the environment and the machine, and ends with the process.
#pragma once

#include "nopal/config.h"
#include "nopal/config/options.h"
#include "nopal/vproc/statistics.h"
#if !defined(NOPAL_SERIAL)
#include "nopal/join/failure.h"
#include "nopal/sched/deadlock.h"
#include "nopal/sched/pool.h"
#include "nopal/vproc/settings.h"
#endif

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// config/options.h has each field, its unit and its environment variable. Precedence: program,
/// environment, then the machine (cgroup quota, affinity mask, CPUs online).
using options = config::options;
/// Whether workers are bound to cores: the field options::binding.
using binding = config::bind;
/// A stack budget without a bound.
using config::unlimited;

/// Takes effect at the first fork. Ends the program with a sentence if the first fork has been, or
/// a call of num_workers; that call or fork does so if a value is not accepted.
/// @par Threads
/// Any thread, before the first fork.
void configure(const options& asked);

/// The threads that run strands when one external thread, such as `main`, has forked: this thread
/// and the pool's. Each further external thread that forks at the same time adds itself. Resolves
/// the options unless they are resolved.
unsigned num_workers();

/// Ends the pool's threads, and returns when they have ended: on each, options::on_worker_end was
/// called, and then the thread-local objects were destroyed. The next fork starts others, which
/// inherit from the forking thread what threads inherit. (The threads of the timer and of deadlines
/// stay.) Ends the program with a sentence if a computation runs.
/// @par Threads
/// Any thread that runs no strand.
void stop_workers();

/// What all workers did since the program began; see vproc/statistics.h for each field.
using vproc::statistics;
/// The statistics until now.
/// @par Threads
/// Any thread.
[[nodiscard]] statistics stats();

/// Prints on standard error, for each object that strands wait for, how many do: mutexes, channels
/// and so on, by their addresses; not joins, which wait for other strands. Where no strand can ever
/// go on Nopal prints this by itself and ends the program (docs/scheduling.md, "Deadlocks").
/// @par Threads
/// Any thread.
/// @par Cost
/// A look at each stack that there ever was.
void report_waiting();

/// In a handler of an exception that a join or invoke has thrown: how many other exceptions of the
/// same join were suppressed. Valid until the strand forks, joins or waits.
[[nodiscard]] std::uint64_t suppressed_exceptions() noexcept;

#if defined(NOPAL_SERIAL)
/// The serial elision has no runtime: one worker, no options to heed, nothing to count.
inline void configure(const options&) {}
inline unsigned num_workers() { return 1; }
inline void stop_workers() {}
inline statistics stats() { return {}; }
inline void report_waiting() {}
inline std::uint64_t suppressed_exceptions() noexcept { return 0; }
#else
inline void configure(const options& asked) { vproc::set_options(asked); }
inline unsigned num_workers() { return vproc::options_in_force().num_workers.value; }
inline void stop_workers() { sched::stop(); }
inline statistics stats() { return vproc::measure(); }
inline void report_waiting() { sched::report_waits(); }
inline std::uint64_t suppressed_exceptions() noexcept { return join::suppressed_by_last_join(); }
#endif

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
