// SPDX-License-Identifier: MIT
// What check builds (tools/thread_bound.cc) notice of frames and locks that belong to one thread
// while strands below them move to others: mutexes that are held, frames of functions that keep
// something of their thread, and frames that a signal handler has interrupted. Nothing in other
// builds.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/worker.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

#if defined(NOPAL_CHECKS)
// On the stack of a child whose parent has been stolen. The parent, and the functions that called
// it, will return on another thread. Ends the program if one of these is known to belong to its
// thread, or was interrupted by a signal handler.
void check_callers(const worker* self) noexcept;
// A fork of a thread that runs no strand was not made by a signal handler.
void check_no_handler() noexcept;
// A thread that looks for work holds as many mutexes as when it began the group that it waits for.
void check_mutexes(const vproc* host) noexcept;
// Locked by this thread, so far as a call of pthread_mutex_* or pthread_rwlock_* said so.
int mutexes_held() noexcept;
#else
inline void check_callers(const worker*) noexcept {}
inline void check_no_handler() noexcept {}
inline void check_mutexes(const vproc*) noexcept {}
inline int mutexes_held() noexcept { return 0; }
#endif

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
