// SPDX-License-Identifier: MIT
// Spare threads take the places of threads that block.
//
// A thread lends its place while it blocks in a system call, or sleeps in a region that it waits
// for while what is outside of the region might run; and the timer lends the place of a thread
// that does not take its signals. The thread keeps its worker, and its open forks can be stolen as
// ever. Meanwhile
//
//   threads   a spare pool thread takes its place among those that run
//   arenas    one more vproc may join each arena whose strands the thread would run
//   actions   each action of its vproc yields: it goes on on another vproc, as if its fiber waited
//
// Wanted spares = lent places; a spare beyond that rests when it next looks for work.
#pragma once

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
  // So many places of a vproc that is bound to this group, as a member or not, for the next group
  // outside.
  lending(vproc* lent, int places, bool asleep);
  void take_back() noexcept;

private:
  vproc* lent_; // null: no place was lent
  int places_;
  bool asleep_;
  bool had_actions_ = false;
  // Where the arenas begin whose places are lent.
  group* bound_ = nullptr;
  bool member_ = false;
};

// The same while its thread sleeps in a region, if nobody else could run what is outside.
struct lending_asleep : lending {
  explicit lending_asleep(vproc* sleeper);
};

// The threads alone, in two calls.
void lend_spare(int places = 1) noexcept;
void take_spare_back(int places = 1) noexcept;

// All of it in two calls: the timer lends the place of a vproc that does not take its signals, and
// the vproc takes it back.
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
