// SPDX-License-Identifier: MIT
// The vprocs, and the table in which thieves find the workers that vprocs run.
//
// A slot names a worker in use: one for each pool thread, and one for each group that has begun and
// not ended, while the waiting thread runs that worker or an inner one. The lowest free slot goes
// first, so that thieves need not look at many that are free. Workers, groups and vprocs are used
// again and never freed: a thief that comes late finds nothing, but it finds memory.
//
// Thread rules: from any thread; what takes or returns something takes a lock.
#pragma once

#include "nopal/config.h"
#include "nopal/sync/suspended.h"
#include "nopal/vproc/group.h"
#include "nopal/vproc/worker.h"

#include <bit>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// The most workers in slots at a time, and the most vprocs ever.
inline constexpr std::uint32_t most_vprocs = 8192;

// One more than the highest slot in use.
std::uint32_t slots_in_use() noexcept;
worker* worker_in(std::uint32_t slot) noexcept; // null: the slot is free

// Whether `wanted` is true for one of at(0), ..., at(count - 1) that is not `self`, nor null.
// Begins at a random number, since one that is always wanted would hide those behind it.
template <class T, class At, class Wanted>
bool any_other(const T* self, std::uint32_t count, At at, base::random& random, Wanted wanted) {
  const std::uint32_t first = random.below(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    T* const other = at((first + i) % count);
    if (other != self && other != nullptr && wanted(other))
      return true;
  }
  return false;
}
// The same for the workers in slots.
template <class Wanted> bool any_other_worker(const worker* self, Wanted wanted) noexcept {
  return any_other(self, slots_in_use(), worker_in, self->host->random, wanted);
}

// Takes a worker for this vproc into the lowest free slot, and returns it.
worker* take_worker(vproc* self) noexcept;
void return_worker(worker* unused) noexcept;
// The vproc of `left` runs another worker from now on, in the same slot. `left` is suspended.
worker* replace_worker(worker* left) noexcept;
// The converse: `left` in the place of `self`, which is returned.
void put_back_worker(worker* self, worker* left) noexcept;
// Gives back the empty stack of an idle or unused worker, if thieves or the budget may want it.
void lend_stack(worker* self) noexcept;

// The workers that waiting strands have left with open forks.
extern sync::suspended_workers<worker> suspended;

group* take_group() noexcept;
void return_group(group* unused) noexcept;
// Makes the word 0 if no group is in use. A group that is taken later finds it so.
bool clear_if_no_group(base::atomic<std::uint32_t>& word) noexcept;

// The thread that has run this worker of the pool ends. Another one may run it later.
void leave_to_next_thread(worker* left) noexcept;

// An external thread's vproc.
vproc* take_vproc() noexcept;
void return_vproc(vproc* unused) noexcept;
// A new vproc for a pool thread, and for the threads of later pools. A spare's is never seen as one
// that computations may be given.
vproc* add_pool_vproc(bool is_spare = false) noexcept;
// The pool's vprocs. Their number only grows.
std::uint32_t pool_size() noexcept;
vproc* pool_vproc(std::uint32_t number) noexcept;
// All vprocs, used or not. Their number only grows.
std::uint32_t vprocs_ever() noexcept;
vproc* vproc_at(std::uint32_t number) noexcept;

// The vprocs that have a thread, or had one in the pool: a bit for each. Of the unused ones the
// lowest goes first. A thread that takes a vproc and then looks at what is cancelled sees it, or
// the canceller finds the vproc (sched/stop.h).
std::uint64_t live_vprocs(std::uint32_t word) noexcept;
template <class Visit> void for_each_live_vproc(Visit visit) noexcept {
  const std::uint32_t words = (vprocs_ever() + 63) / 64;
  for (std::uint32_t word = 0; word < words; ++word)
    for (std::uint64_t left = live_vprocs(word); left != 0; left &= left - 1)
      visit(vproc_at(word * 64 + static_cast<std::uint32_t>(std::countr_zero(left))));
}

// any_other for all vprocs.
template <class Wanted> bool any_other_vproc(vproc* self, Wanted wanted) noexcept {
  return any_other(self, vprocs_ever(), vproc_at, self->random, wanted);
}

// Called before the first use: deques and random numbers begin with these.
void open_table(bool without_barrier, std::uint64_t seed) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
