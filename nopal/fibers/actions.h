// SPDX-License-Identifier: MIT
// What nopal/scheduler.h is made of: actions of the user, and the instances of a scheduler.
//
// A scheduler with a computation has instances, each an action. An instance is idle, or active: on
// its way to a vproc, or on that vproc's stack of actions. There are so many active ones as there
// are fibers to be chosen, if there may be; an instance that finds none becomes idle.
//
// Invariant: if a fiber is kept, no instance is idle, or one that is active will ask for it: under
// the lock; or, where the scheduler is concurrent and there is none, by the protocol of
// sync/idle_list.h. An active instance counts as a fiber of the computation, so that the
// computation ends after it. Who keeps a fiber counts, too, as one of the computation or for the
// time of the call, since the fiber may be taken and end at once.
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/idle_list.h"
#include "nopal/vproc/computation.h"
#include "nopal/vproc/fiber.h"

#include <memory>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::fibers {

using vproc::computation;
using vproc::fiber;
using vproc::fiber_context;
using vproc::signal;

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

// Where a scheduler's instances run.
enum class placement : std::uint8_t {
  anywhere,
  provisioned, // each on one vproc, which the computation is given (places.h)
};

class instances : vproc::policy {
public:
  // What a scheduler does; `number` is the calling vproc's. Called by one thread at a time, unless
  // the scheduler is concurrent.
  struct calls {
    void (*begin)(instances*, std::uint32_t vprocs);
    void (*put)(instances*, fiber*, std::uint32_t number);
    fiber* (*take)(instances*, std::uint32_t number); // null: none
    // Concurrent ones alone.
    fiber* (*steal)(instances*, std::uint32_t number); // after others have had their turn
    bool (*any)(instances*);                           // whether one is kept
  };

  instances(const calls& scheduler, unsigned most, placement where) noexcept;
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
    base::handed_over<instance*> next_idle{nullptr};
    bool may_steal = false; // others have had their turn
  };

  static void take_ready(vproc::policy* self, fiber* ready, std::uint32_t number) noexcept;
  bool concurrent() const noexcept { return calls_.any != nullptr; }
  void open() noexcept;
  void put(fiber* ready, std::uint32_t number) noexcept;
  void keep(fiber* ready, std::uint32_t number) noexcept;
  void start(instance* idle) noexcept;
  fiber* next_for(instance* asking);
  void become_idle(instance* one) noexcept;

  const calls& calls_;
  const unsigned most_;
  const placement where_;
  base::spin_lock lock_; // of what the scheduler keeps, unless it is concurrent
  std::vector<std::unique_ptr<instance>> all_;
  sync::idle_list<instance> idle_;
  vproc::computation* in_ = nullptr;
  bool opened_ = false; // set by the first fiber that is ready, before there is another one
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

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
