// SPDX-License-Identifier: MIT
// Alarms cancel a node at a given time (nopal/cancel.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"

#include <chrono>
#include <map>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// Cancels the node at that time, on the alarms' thread. After its destruction it does not, and is
// not doing so. The node outlives it.
class alarm {
public:
  using clock = std::chrono::steady_clock;

  alarm(join::cancelable& node, clock::time_point at);
  ~alarm();
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;

private:
  join::cancelable* const node_;
  std::multimap<clock::time_point, alarm*>::iterator at_;
  bool set_ = true;

  friend struct alarm_thread;
};

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
