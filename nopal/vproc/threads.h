// SPDX-License-Identifier: MIT
// The threads that Nopal begins: those of the pool, spares, and helpers that run no strands.
//
// Pool threads behave as the program's own would: they have the signal mask of the thread that
// starts the pool, and inherit the rest as any new thread does. They run until the pool
// ends (nopal::stop_workers), else as long as the process, and sleep when there is nothing to do.
//
// The end of the pool. The caller of `stop` has seen, under the table's lock, that no group is in
// use, so nothing runs and nothing can be found. It sets `ends`, passes a full fence and wakes
// those that sleep; a thread that falls asleep announces itself, passes a full fence and looks at
// `ends` (may_go_on). So each thread sees the word, or is woken (sync/README.md). One that sees it
// leaves the scheduler for the frame in which it began, and is joined. Its vproc and worker stay in
// the tables, as those of a thread that sleeps, and a thread of the next pool takes them over. A
// thread that wants to fork meanwhile counts its group first, then waits for the lock of `start`.
#pragma once

#include "nopal/config.h"
#include "nopal/config/options.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct vproc;
struct worker;

// The function that a pool thread runs. When the pool ends it returns the last worker of its vproc.
using pool_body = worker* (*)(worker* self) noexcept;

// Starts the pool's threads, which get the signal mask of the calling thread.
void start_pool_threads(const config::resolved_options& use, const config::options& asked,
                        pool_body body);
// Ends them all, in two steps. Precondition: no group is in use. The first step wakes all sleepers
// but resting spares (spares.h); the second returns when all threads have ended.
void tell_pool_threads_to_end() noexcept;
void join_pool_threads() noexcept;

// Starts one more pool thread than were asked for. False: the pool has ended.
bool start_spare();
// Starts a thread that runs no strands, and lives as long as the process. The purpose completes
// the message "cannot start the thread that ...".
void start_helper(void* (*body)(void*) noexcept, const char* purpose);
// The calling helper takes the signals that the pool's threads take: it calls the program's code.
void take_programs_signals() noexcept;

// Whether this pool thread is to end when it finds nothing to do.
bool is_to_end(const vproc* host) noexcept;
// Precondition, checked: this is no pool thread that runs a callback of the program or a destructor
// of a thread-local object.
void check_no_callback() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
