// SPDX-License-Identifier: MIT
// What cancels a node from outside, and who is told that it is cancelled (nopal/cancel.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"

#include <chrono>
#include <map>
#include <stop_token>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

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

// A stop is requested of the source when one of the nodes is cancelled.
class observer {
public:
  explicit observer(std::vector<const join::cancelable*> of);
  ~observer();
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  std::stop_token token() const noexcept { return source_.get_token(); }

private:
  bool cancelled() const noexcept;

  const std::vector<const join::cancelable*> of_;
  std::stop_source source_;
  observer* next_;
  observer** before_;

  friend void tell_observers();
};

// After a node was marked. Runs the callbacks of tokens.
void tell_observers();

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
