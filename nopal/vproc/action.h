// SPDX-License-Identifier: MIT
// Signals and scheduler actions: how a vproc is told that its fiber runs no more, and by whom that
// is decided what it runs next.
//
//   run a fiber    pushes an action on the vproc's stack of actions, and enters the fiber
//   a signal       pops the action on top, which answers with what the vproc does next: run a
//                  fiber, or forward a signal to the action below
//
// Below all actions the vproc's own scheduler (sched/schedule.cc) answers, by work stealing.
//
// Ownership: `below` belongs to the vproc while the action is pushed; a vproc's stack of actions to
//            its own thread. An action is pushed once at a time.
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
    preempt, // it may go on at any time
    // The next two are no signals of the paper: what the vproc goes on with, without a decision.
    enter,  // a fiber, under the action that was pushed last
    joined, // the main path of a scope, at whose join the last strand has arrived
  };
  kind what = kind::stop;
  fiber* strand = nullptr;
  join::scope_frame* scope = nullptr;

  static signal stop() noexcept { return {}; }
  static signal preempt(fiber* strand) noexcept { return {kind::preempt, strand, nullptr}; }
  static signal enter(fiber* strand) noexcept { return {kind::enter, strand, nullptr}; }
  static signal joined(join::scope_frame* scope) noexcept { return {kind::joined, nullptr, scope}; }
};

struct action {
  // On the scheduler's stack of the vproc that runs it. Returns a signal to forward; or, after it
  // has pushed an action, the fiber to enter.
  using receiver = signal (*)(action*, signal) noexcept;

  explicit action(receiver answers) noexcept : receive{answers} {}

  const receiver receive;
  vproc* host = nullptr; // that asked it last
  action* below = nullptr;
  bool pushed = false;
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
