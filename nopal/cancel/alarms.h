// SPDX-License-Identifier: MIT
// Alarms cancel a node at a given time (nopal/cancel.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/alarms.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// Cancels the node at that time, on the alarms' thread. After its destruction it does not, and is
// not doing so. The node outlives it.
class alarm : public vproc::alarm {
public:
  alarm(join::cancelable& node, clock::time_point at)
      : vproc::alarm{ring}, node_{&stack::seen(node)} {
    set(at);
  }
  ~alarm() { reset(); }

private:
  static void ring(vproc::alarm* due) noexcept;

  join::cancelable* const node_;
};

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
