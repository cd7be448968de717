// SPDX-License-Identifier: MIT
// The thread of deadlines, and the list of observers. Both are used where a program has asked for a
// deadline or a token; what they share lives as long as the process.
#include "nopal/sched/alarms.h"

#include "nopal/sched/cancel.h"
#include "nopal/sched/pool_threads.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::sched {

struct alarm_thread {
  std::mutex lock;
  std::condition_variable changed;
  std::multimap<alarm::clock::time_point, alarm*> set;
  const alarm* ringing = nullptr;
  bool started = false;

  // There is one, for good.
  static alarm_thread& here() {
    static auto* const only = new alarm_thread;
    return *only;
  }

  [[noreturn]] void run() {
    take_programs_signals(); // callbacks of tokens are the program's
    std::unique_lock guard{lock};
    constexpr std::chrono::hours longest{24}; // no C library adds it to a clock in vain
    for (;;) {
      const auto now = alarm::clock::now();
      if (set.empty())
        changed.wait(guard);
      else if (const auto next = set.begin(); next->first > now)
        changed.wait_until(guard, std::min(next->first, now + longest));
      else
        ring(guard, set.extract(next).mapped());
    }
  }

  void ring(std::unique_lock<std::mutex>& guard, alarm* due) {
    due->set_ = false;
    ringing = due;
    guard.unlock();
    cancel(*due->node_);
    guard.lock();
    ringing = nullptr;
    changed.notify_all();
  }
};

alarm::alarm(join::cancelable& node, clock::time_point at) : node_{&node} {
  alarm_thread& thread = alarm_thread::here();
  const std::scoped_lock guard{thread.lock};
  if (!std::exchange(thread.started, true))
    start_helper([](void*) noexcept -> void* { alarm_thread::here().run(); },
                 "watches the deadlines of cancel scopes");
  at_ = thread.set.emplace(at, this);
  thread.changed.notify_all();
}

alarm::~alarm() {
  alarm_thread& thread = alarm_thread::here();
  std::unique_lock guard{thread.lock};
  if (set_)
    thread.set.erase(at_);
  else
    thread.changed.wait(guard, [&] { return thread.ringing != this; });
}

namespace {

struct observer_list {
  std::mutex lock;
  observer* first = nullptr;
};
observer_list& observers() {
  static auto* const only = new observer_list;
  return *only;
}

} // namespace

observer::observer(std::vector<const join::cancelable*> of) : of_{std::move(of)} {
  observer_list& all = observers();
  const std::scoped_lock guard{all.lock};
  next_ = std::exchange(all.first, this);
  before_ = &all.first;
  if (next_ != nullptr)
    next_->before_ = &next_;
  if (cancelled())
    source_.request_stop(); // nobody has its token yet
}

observer::~observer() {
  const std::scoped_lock guard{observers().lock};
  *before_ = next_;
  if (next_ != nullptr)
    next_->before_ = before_;
}

bool observer::cancelled() const noexcept {
  return std::ranges::any_of(of_, [](const join::cancelable* node) { return node->marked(); });
}

void tell_observers() {
  std::vector<std::stop_source> told;
  {
    observer_list& all = observers();
    const std::scoped_lock guard{all.lock};
    for (const observer* one = all.first; one != nullptr; one = one->next_)
      if (!one->source_.stop_requested() && one->cancelled())
        told.push_back(one->source_);
  }
  for (std::stop_source& one : told)
    one.request_stop();
}

} // namespace nopal::inline NOPAL_ABI::sched
