// SPDX-License-Identifier: MIT
// Check builds (tools/thread_bound.cc) find frames and locks that belong to one thread while
// strands below them move to other threads: mutexes that are held, frames of functions that keep
// something of their thread, and frames that a signal handler has interrupted. Other builds check
// nothing.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/worker.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

#if defined(NOPAL_CHECKS)
// Called on the stack of a child whose parent has been stolen. The parent, and the functions that
// called it, will return on another thread. Precondition, checked: none of these is known to belong
// to its thread, and no signal handler has interrupted one.
void check_callers(const worker* self) noexcept;
// Precondition, checked at the fork of a thread that runs no strand: no signal handler makes it.
void check_no_handler() noexcept;
// Precondition, checked when a thread looks for work: it holds as many mutexes as when it began the
// group that it waits for.
void check_mutexes(const vproc* host) noexcept;
// How many locks this thread has taken with pthread_mutex_* and pthread_rwlock_*, and not released.
int mutexes_held() noexcept;
#else
inline void check_callers(const worker*) noexcept {}
inline void check_no_handler() noexcept {}
inline void check_mutexes(const vproc*) noexcept {}
inline int mutexes_held() noexcept { return 0; }
#endif

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
