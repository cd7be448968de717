// SPDX-License-Identifier: MIT
// What cancels a node at a given time (nopal/cancel.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"

#include <chrono>
#include <map>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// Cancels the node at that time, by a thread of its own. Destroyed: it does not, and has not begun
// to on another thread. The node lives as long.
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
