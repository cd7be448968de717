// SPDX-License-Identifier: MIT
// Threads without work: how they are counted, sleep and are woken. The protocol is
// vproc/README.md.
#pragma once

#include "nopal/config.h"
#include "nopal/sched/schedule.h"

namespace nopal::inline NOPAL_ABI::sched {

// Something became public in this group, or a fiber of it ready: wakes its thread, or else a pool
// thread if none looks. `self` is null for a thread that may run no strands.
void announce_work(worker* self, group* of) noexcept;
// The thread that sleeps there has something to do.
void wake(worker* self, vproc::parking_place& sleeper) noexcept;

// Whether this vproc has something to go on with, and need not steal.
bool may_go_on(const worker* self) noexcept;
// It is a spare too many (spares.h).
bool must_rest(const worker* self) noexcept;

// A vproc that looks for work, from its begin to its end. One that is bound to a group is not
// counted: publishers must not rely on it, since it takes strands of its group only.
class searcher {
public:
  explicit searcher(worker* self) noexcept : self_{self} { begin(); }
  searcher(const searcher&) = delete;
  searcher& operator=(const searcher&) = delete;

  // A thief whose steals are in vain rests before it looks again (vproc/vain_steals.h).
  void rest_after_vain_steals() noexcept;
  // Sleeps until it is woken, unless there is something after all.
  void sleep() noexcept;
  // Where stacks may run out, a thief needs one before it steals. False: it can go on without.
  bool wait_for_stack() noexcept;
  // A spare too many: until it is wanted again.
  void rest() noexcept;
  // It has found this, and looks no more.
  void end(const next_step& found) noexcept;

private:
  bool counted() const noexcept { return self_->host->bound == nullptr; }
  void begin() noexcept;
  void pause() noexcept;
  void hand_over(group* of) noexcept;

  worker* const self_;
};

// When steals are forced (pool.h): perhaps waits until a thief has taken what this worker has
// published. steal.cc
void wait_for_thief(worker* self) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
