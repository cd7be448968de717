// SPDX-License-Identifier: MIT
// Alarms cancel a node at a given time (nopal/cancel.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/alarms.h"

#include <functional>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// Cancels the node at that time, on the alarms' thread. After its destruction it does not, and is
// not doing so. The node outlives it.
class alarm : public vproc::alarm {
public:
  // Called at that time, on the alarms' thread: returns when to look again, since another clock
  // than the steady one decides, or a time that has passed.
  using look = std::function<clock::time_point()>;

  alarm(join::cancelable& node, clock::time_point at, look again = {})
      : vproc::alarm{ring}, node_{&stack::seen(node)}, again_{std::move(again)} {
    set(at);
  }
  ~alarm() { reset(); }

private:
  static void ring(vproc::alarm* due) noexcept;

  join::cancelable* const node_;
  const look again_; // null: the node is cancelled when it rings
};

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
