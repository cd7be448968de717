// SPDX-License-Identifier: MIT
// Signals and scheduler actions. A signal tells a vproc that its fiber runs no more; an action
// decides what the vproc runs next.
//
//   run a fiber    pushes an action on the vproc's stack of actions, and enters the fiber
//   a signal       pops the action on top, which answers with what the vproc does next: run a
//                  fiber, or forward a signal to the action below
//
// Below all actions the vproc's own scheduler (sched/schedule.cc) answers, by work stealing.
//
// Ownership: `below`, `pushed` and `starting` of an action are its vproc's thread's; those of an
//            action that another thread takes from the stack are that thread's.
// Paper: manticore-icfp08, section 3.1.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {
struct scope_frame;
}

namespace nopal::inline NOPAL_ABI::vproc {

struct fiber;
struct vproc;

struct signal {
  enum class kind : std::uint8_t {
    stop,    // the fiber has ended, or waits where others will find it
    preempt, // the fiber gave way, and may go on at any time
    // Not in the paper: the vproc goes on with this, and no action decides.
    enter,  // a fiber, under the action on top
    joined, // a scope's main path: the last strand has arrived at its join
  };
  kind tag = kind::stop;
  fiber* strand = nullptr;
  join::scope_frame* scope = nullptr;

  static signal stop() noexcept { return {}; }
  static signal preempt(fiber* strand) noexcept { return {kind::preempt, strand, nullptr}; }
  static signal enter(fiber* strand) noexcept { return {kind::enter, strand, nullptr}; }
  static signal joined(join::scope_frame* scope) noexcept { return {kind::joined, nullptr, scope}; }
};

struct action {
  // Called on the scheduler's stack of the vproc that asks. Returns a signal to forward to the
  // action below; or, after it has pushed an action, the fiber to enter.
  using receiver = signal (*)(action*, signal) noexcept;

  explicit action(receiver answer, fiber* start = nullptr) noexcept
      : receive{answer}, starter{start} {}

  const receiver receive;
  fiber* const starter;  // to enter it is to tell the action `stop`
  bool starting = false; // `starter` is ready or held, and was not entered yet
  vproc* host = nullptr; // the vproc that asked it last
  action* below = nullptr;
  bool pushed = false;
};

// The actions of a vproc. Its thread pushes and pops. Any thread may take all at any time: then
// each action yields (spares.h).
//
// Invariant: an action that is pushed is on one stack, and one thread takes it from there.
// Orders:
//   T  take_all, pop: exchange acq_rel. Partner: the store release of put. The thread that takes
//      the actions sees what their vproc wrote there.
//   An empty stack is left alone, since only its own thread pushes.
class action_stack {
public:
  bool empty() const noexcept { return top_.load(base::relaxed) == nullptr; }
  action* take_all() noexcept {
    return empty() ? nullptr : top_.exchange(nullptr, base::acq_rel); // T
  }

  // Owner.
  void push(action* pushed) noexcept {
    pushed->below = take_all();
    put(pushed);
  }
  // Null: there is none, or another thread has just taken all.
  action* pop() noexcept {
    action* const top = top_.exchange(nullptr, base::acq_rel); // T
    if (top != nullptr && top->below != nullptr)
      put(top->below);
    return top;
  }
  // Precondition: the stack is empty.
  void put(action* all) noexcept { top_.store(all, base::release); } // T

private:
  base::atomic<action*> top_{nullptr};
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
