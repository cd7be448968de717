// SPDX-License-Identifier: MIT
// Spare threads in the place of threads that block.
//
// A thread that blocks in a system call keeps its worker, and its open forks can be stolen as ever;
// a spare pool worker takes its place among those that run. As many spares are wanted as threads
// are blocked: one too many rests when it looks for work next.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct vproc;

// Constructed: the calling thread is about to block. Destroyed: it is not. No effect on a thread
// that runs no strands.
class lending {
public:
  lending();
  ~lending();
  lending(const lending&) = delete;
  lending& operator=(const lending&) = delete;

private:
  vproc* lent_; // whose place; null: none
};

// The same in two calls, by another thread: a spare takes the place of a vproc that does not heed
// its signals, and is one too many again.
void lend_spare() noexcept;
void take_spare_back() noexcept;

// A spare that looks for work: whether there is one too many.
bool too_many_spares() noexcept;
// Then it rests, unless that changed, until one is wanted or the pool ends.
void rest_until_wanted(const vproc* host) noexcept;

// The pool ends (threads.h); and: it has ended.
void wake_resting_spares() noexcept;
void forget_spares() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
