// SPDX-License-Identifier: MIT
// The parts of nopal/scheduler.h: actions of the user, and the instances of a scheduler.
//
// A scheduler with a computation has instances, each an action. An instance is idle or active. An
// active one is on its way to a vproc, or on that vproc's stack of actions. In the long run
//
//   active instances = min(kept fibers, most_vprocs)
//
// since each fiber that is put starts an idle instance, and an instance that finds none becomes
// idle.
//
// Invariant: if a fiber is kept, no instance is idle, or an active one will ask for it. This holds
//            under the lock; for a concurrent scheduler, which has no lock, by the protocol of
//            sync/idle_list.h.
// Invariant: an active instance counts as a fiber of the computation, so the computation ends after
//            it. A thread that keeps a fiber runs a fiber of the computation, or counts as one
//            meanwhile: the kept fiber may be taken, and end, at once.
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/stack/stack.h"
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

  explicit user_action(answerer answer) noexcept
      : vproc::action{ask_guarded, &start}, answers{answer} {
    start.starts = this;
  }
  user_action(const user_action&) = delete;
  user_action& operator=(const user_action&) = delete;

  const answerer answers;
  fiber start;
  fiber_context own; // of `start`: the fiber of the strand that starts the action may end first
  vproc::computation* computation = nullptr; // that counts this action as a fiber

private:
  static signal ask_guarded(vproc::action* asked, signal given) noexcept;
};

// Precondition of the two `prepare` and of push, checked: the action is on no stack, and is not to
// be started already.
void prepare_here(user_action* unused) noexcept; // called in a strand; the action counts as a fiber
void leave_computation(user_action* left) noexcept; // the action counts no more
void prepare_again(user_action* asked) noexcept;    // called while the action answers
void push(user_action* asked) noexcept;             // called while the action answers

// The vprocs on which a scheduler's instances run.
enum class placement : std::uint8_t {
  anywhere,
  provisioned, // each on one vproc, which the computation provisions for it (places.h)
};

struct spawned;

class instances : vproc::policy {
public:
  // The program's part of a scheduler; `number` is the calling vproc's. Called by one thread at a
  // time, unless the scheduler is concurrent.
  struct calls {
    void (*begin)(instances*, std::uint32_t vprocs);
    void (*put)(instances*, fiber*, std::uint32_t number);
    fiber* (*take)(instances*, std::uint32_t number); // null: none
    // Only a concurrent scheduler has these.
    fiber* (*steal)(instances*, std::uint32_t number); // called after a yield
    bool (*any)(instances*);                           // whether a fiber is kept
  };

  instances(const calls& scheduler, unsigned most, placement where) noexcept;
  instances(const instances&) = delete;
  instances& operator=(const instances&) = delete;

  // Called before the computation begins, and after it has ended. Precondition, checked: the
  // scheduler has no computation yet.
  void begin(vproc::computation& begun);
  void end() noexcept { computation_ = nullptr; }

private:
  struct instance : user_action {
    explicit instance(instances& owner) noexcept : user_action{answer}, all{owner} {}
    static signal answer(vproc::action* asked, signal given);
    instances& all;
    base::handed_over<instance*> next_idle{nullptr};
    bool may_steal = false; // it has yielded since it last found a fiber
  };

  static void take_ready(vproc::policy* self, fiber* ready, std::uint32_t number) noexcept;
  bool concurrent() const noexcept { return calls_.any != nullptr; }
  void open() noexcept;
  void put(fiber* ready, std::uint32_t number) noexcept;
  void keep(fiber* ready, std::uint32_t number) noexcept;
  void start(instance* idle) noexcept;
  fiber* next_for(instance* asking);
  void become_idle(instance* asked) noexcept;

  const calls& calls_;
  const unsigned most_;
  const placement where_;
  base::spin_lock lock_; // of what the scheduler keeps, unless it is concurrent
  std::vector<std::unique_ptr<instance>> all_;
  sync::idle_list<instance> idle_;
  vproc::computation* computation_ = nullptr;
  bool opened_ = false; // set by the first ready fiber, while it is the only one
};

// The scheduler has the computation for the lifetime of this object.
class chosen_by {
public:
  chosen_by(instances& all, vproc::computation& begun) : all_{stack::seen(all)} {
    all_.begin(stack::seen(begun));
  }
  ~chosen_by() { all_.end(); }
  chosen_by(const chosen_by&) = delete;
  chosen_by& operator=(const chosen_by&) = delete;

private:
  instances& all_;
};

// As run_body. A computation without a scheduler that begins under one has a scheduler of its own,
// which keeps fibers in their order, so that all of it shares the turns of its caller.
void run(spawned* body, computation* begun);

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
