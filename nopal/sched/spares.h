// SPDX-License-Identifier: MIT
//
// Workers that are lent away, and spare ones in their place.
//
// A thread that blocks in a system call keeps its worker, and its open forks can be stolen as ever;
// a spare pool worker takes its place among those that run. At most as many spares are active as
// threads are blocked: one too many rests as soon as it looks for work again.
#pragma once

#include "nopal/config.h"

namespace nopal::inline NOPAL_ABI::sched {

// The calling thread is about to block; it no longer does. Nothing where it is no worker.
class lending {
public:
  lending();
  ~lending();
  lending(const lending&) = delete;
  lending& operator=(const lending&) = delete;

private:
  bool lent_;
};

// A spare that looks for work: whether there is one too many.
bool too_many_spares() noexcept;
// Then it rests, unless that changed, until one is wanted.
void rest_until_wanted() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
