// SPDX-License-Identifier: MIT
// Spare threads take the places of threads that block.
//
// A thread that blocks in a system call keeps its worker, and its open forks can be stolen as ever;
// a spare pool thread takes its place among those that run. Wanted spares = lent places; a spare
// beyond that rests when it next looks for work.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct vproc;

// Lends the place of the calling thread while it blocks. No effect on a thread that runs no
// strands.
class lending {
public:
  lending();
  ~lending();
  lending(const lending&) = delete;
  lending& operator=(const lending&) = delete;

private:
  vproc* lent_; // null: no place was lent
};

// The same in two calls: the timer lends the place of a vproc that does not take its signals, and
// the vproc takes it back.
void lend_spare() noexcept;
void take_spare_back() noexcept;

// Whether more spares are active than are wanted: a spare that looks for work then rests.
bool too_many_spares() noexcept;
// Sleeps until a spare is wanted or the pool ends; returns at once if too_many_spares changed.
void rest_until_wanted(const vproc* host) noexcept;

// Called when the pool ends (threads.h), and after its threads were joined.
void wake_resting_spares() noexcept;
void forget_spares() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
