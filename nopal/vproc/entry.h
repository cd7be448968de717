// SPDX-License-Identifier: MIT
// Entering the scheduler, and leaving it for a strand.
//
// A thread in the scheduler may hold a lock, so nothing may enter it again. Only a signal handler
// that forks could: it has interrupted the scheduler on its own thread, and would wait for that
// lock for ever. Precondition of `enter`, checked: the thread is outside.
//
// Roles: every slow path of a fork or join that may lock enters first, and leaves before it returns
//        to the strand or resumes another. A path that ends in the scheduler (a child that is
//        detached, a strand that waits) leaves where that resumes a strand.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

void enter() noexcept;
void leave() noexcept;

// Around code of no strand, which a strand or the scheduler calls: enter_if_outside answers whether
// it has entered, and leave_if takes that answer.
bool enter_if_outside() noexcept;
void leave_if(bool entered) noexcept;

// Called before the next, under the pool's lock.
void watch_ends_of_threads() noexcept;
// Called once on each thread that runs strands. Precondition from then on, checked when the thread
// ends: it runs no strand. A thread that ends there (pthread_exit, pthread_cancel) would leave a
// computation unfinished.
void watch_this_threads_end() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
