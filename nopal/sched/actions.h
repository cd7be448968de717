// SPDX-License-Identifier: MIT
// What nopal/scheduler.h is made of: actions of the user, and the instances of a scheduler.
//
// A scheduler with a computation has instances, each an action. An instance is idle, or active: on
// its way to a vproc, or on that vproc's stack of actions. There are so many active ones as there
// are fibers to be chosen, if there may be; an instance that finds none becomes idle.
//
// Invariant (under the lock): if a fiber is kept, no instance is idle, or one that is active will
// ask for it. An active instance counts as a fiber of the computation, so that the computation ends
// after it.
#pragma once

#include "nopal/config.h"
#include "nopal/deque/spin_lock.h"
#include "nopal/sched/schedule.h"
#include "nopal/vproc/computation.h"

#include <memory>
#include <vector>

namespace nopal::inline NOPAL_ABI::sched {

struct user_action : vproc::action {
  using answerer = signal (*)(vproc::action*, signal); // may throw

  explicit user_action(answerer to) noexcept : vproc::action{ask_guarded}, answers{to} {
    start.starts = this;
  }
  user_action(const user_action&) = delete;
  user_action& operator=(const user_action&) = delete;

  const answerer answers;
  fiber start;
  fiber_context own;     // of an action that a strand started: the strand's fiber may end before it
  bool starting = false; // `start` is somewhere, and was not entered yet
  vproc::computation* in = nullptr; // as a fiber of which it counts

private:
  static signal ask_guarded(vproc::action* asked, signal told) noexcept;
};

// Each ends the program with a sentence if the action is on a stack, or to be started, already.
void prepare_here(user_action* unused) noexcept;      // in a strand; it counts as a fiber
void leave_computation(user_action* unused) noexcept; // it counts no more
void prepare_again(user_action* asked) noexcept;      // while it answers
void push(user_action* asked) noexcept;               // while it answers

class instances : vproc::policy {
public:
  using keeper = void (*)(instances*, fiber*);
  using chooser = fiber* (*)(instances*);

  instances(keeper keeps, chooser takes, unsigned most) noexcept;
  instances(const instances&) = delete;
  instances& operator=(const instances&) = delete;

  // Before the computation begins, and after it has ended. Ends the program with a sentence if
  // there is one already.
  void begin(vproc::computation& one);
  void end() noexcept { in_ = nullptr; }

private:
  struct instance : user_action {
    explicit instance(instances& all) noexcept : user_action{answer}, of{all} {}
    static signal answer(vproc::action* asked, signal told);
    instances& of;
    instance* next_idle = nullptr;
  };

  static void take_ready(vproc::policy* self, fiber* ready) noexcept;
  instance* wake_one() noexcept;
  fiber* next_for(instance* asking);

  const keeper keeps_;
  const chooser takes_;
  const unsigned most_;
  deque::spin_lock lock_; // of all below
  std::vector<std::unique_ptr<instance>> all_;
  instance* idle_ = nullptr;
  vproc::computation* in_ = nullptr;
};

class chosen_by {
public:
  chosen_by(instances& all, vproc::computation& in) : all_{all} { all_.begin(in); }
  ~chosen_by() { all_.end(); }
  chosen_by(const chosen_by&) = delete;
  chosen_by& operator=(const chosen_by&) = delete;

private:
  instances& all_;
};

} // namespace nopal::inline NOPAL_ABI::sched
