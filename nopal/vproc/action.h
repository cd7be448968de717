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
// Ownership: a vproc's thread owns the vproc's stack of actions, and `below` and `pushed` of each
//            action on it. An action lies on one stack at a time.
// Paper: manticore-icfp08, section 3.1.
#pragma once

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

  explicit action(receiver answer) noexcept : receive{answer} {}

  const receiver receive;
  vproc* host = nullptr; // the vproc that asked it last
  action* below = nullptr;
  bool pushed = false;
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
