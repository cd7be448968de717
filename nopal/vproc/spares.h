// SPDX-License-Identifier: MIT
// Spare threads take the places of threads that block.
//
// A thread lends its place while it blocks in a system call, or sleeps in a region of a strand;
// and the timer lends the place of a thread that does not take its signals. The thread keeps its
// worker, and its open forks can be stolen as ever. Meanwhile
//
//   threads   a spare pool thread takes its place among those that run
//   arenas    one more vproc may join each arena whose strands the thread would run
//   actions   each action of its vproc yields: it goes on on another vproc, as if its fiber waited
//
// Wanted spares = lent places; a spare beyond that rests when it next looks for work.
#pragma once

#include "nopal/base/child.h"
#include "nopal/base/clock.h"
#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct group;
struct vproc;

// Lends the place of the calling thread while it blocks. No effect on a thread that runs no
// strands.
class lending {
public:
  lending();
  ~lending() { take_back(); }
  lending(const lending&) = delete;
  lending& operator=(const lending&) = delete;

protected:
  lending(vproc* lent, bool asleep); // null: no place is lent

private:
  void take_back() noexcept;

  vproc* const lent_;
  std::chrono::steady_clock::time_point begin_;
  const std::uint32_t lent_in_ = base::this_process; // in the child of fork() nothing is lent
  int places_ = 0;
  bool goes_back_ = false; // the strand goes on without its actions, and soon to its scheduler
  group* bound_ = nullptr; // the innermost arena of which a place is lent, if it is one
  bool member_ = false;
};

// Lends the vproc's place while its thread sleeps in a region of a strand; elsewhere none is lent.
struct lending_asleep : lending {
  explicit lending_asleep(vproc* sleeper);
};

// How long the calling thread has lent its place so far, while it blocked or slept.
std::chrono::nanoseconds time_lent() noexcept;

// Lend and take back the places of threads alone, without arenas and actions.
void lend_spare(int places = 1) noexcept;
void take_spare_back(int places = 1) noexcept;

// All of the above in two calls: the timer lends the place of a vproc that does not take its
// signals, and the vproc takes it back.
void lend_place_of_another(vproc* lent) noexcept;
void take_place_back(vproc* lent) noexcept;

// Whether more spares are active than are wanted: a spare that looks for work then rests.
bool too_many_spares() noexcept;
// Sleeps until a spare is wanted or the pool ends; returns at once if too_many_spares changed.
void rest_until_wanted(const vproc* host) noexcept;

// Called when the pool ends (threads.h), and after its threads were joined.
void wake_resting_spares() noexcept;
void forget_spares() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
