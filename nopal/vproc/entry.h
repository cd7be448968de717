// SPDX-License-Identifier: MIT
// Where a thread enters the scheduler and leaves it for a strand, and what must not happen there.
//
// A thread in the scheduler may hold a lock, so nothing may enter it again. Only a signal handler
// that forks could: it has interrupted the scheduler on its own thread. Such a fork ends the
// program with a sentence; otherwise it would wait for that lock for ever.
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

// For code of no strand, which a strand or the scheduler calls: the next is its answer given back.
bool enter_if_outside() noexcept;
void leave_if(bool entered) noexcept;

// A thread that ends in a computation (pthread_exit, cancellation) would leave it unfinished: it
// ends the program with a sentence. Once for each thread that runs strands.
void watch_this_threads_end() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
