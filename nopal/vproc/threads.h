// SPDX-License-Identifier: MIT
// The threads that Nopal begins: those of the pool, spares, and helpers that run no strands.
//
// Those of the pool are what the program's own would be: they have the signal mask of the thread
// that starts the pool, and the system lets a new thread inherit the rest. They run until the pool
// ends (nopal::stop_workers), else as long as the process, and sleep when there is nothing to do.
//
// How they end. The caller has seen, under the table's lock, that no group is in use, so nothing
// runs and nothing can be found. It sets `ends`, passes a full fence and wakes those that sleep; a
// thread that falls asleep announces itself, passes a full fence and looks at `ends` (may_go_on).
// So each thread sees the word, or is woken (sync/README.md). One that sees it leaves the
// scheduler for the frame in which it began, and is joined. Its vproc and worker stay in the
// tables, as those of a thread that sleeps, and a thread of the next pool takes them over. A thread
// that wants to fork meanwhile counts its group first, then waits for the lock of `start`.
#pragma once

#include "nopal/config.h"
#include "nopal/config/options.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct vproc;
struct worker;

// What a thread of the pool runs. Returns when the pool ends, with the worker that its vproc has
// then.
using pool_body = worker* (*)(worker* self) noexcept;

// Starts the pool's threads, by the thread whose signal mask they are to have.
void start_pool_threads(const config::resolved_options& use, const config::options& asked,
                        pool_body body);
// Ends them all, in two steps; no group is in use. The first one wakes those that sleep but for
// resting spares; the second one returns when all have ended.
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
// Ends the program if this is a pool thread that runs no strand: it is in a callback of the
// program's, or in the destructor of a thread-local object.
void check_no_callback() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
