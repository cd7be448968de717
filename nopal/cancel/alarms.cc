// SPDX-License-Identifier: MIT
// The alarms' thread. It begins at the first alarm, and lives as long as the process.
#include "nopal/cancel/alarms.h"

#include "nopal/cancel/cancel.h"
#include "nopal/vproc/threads.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace nopal::inline NOPAL_ABI::cancel {

struct alarm_thread {
  std::mutex lock; // guards all fields, and `set_` and `at_` of all alarms
  std::condition_variable changed;
  std::multimap<alarm::clock::time_point, alarm*> set;
  const alarm* ringing = nullptr; // the alarm whose node is being cancelled
  bool started = false;

  // Never destroyed: the thread uses it as long as the process lives.
  static alarm_thread& only_thread() {
    static auto* const thread = new alarm_thread;
    return *thread;
  }

  [[noreturn]] void run() {
    vproc::take_programs_signals(); // callbacks of tokens are the program's
    std::unique_lock guard{lock};
    constexpr std::chrono::hours longest{24}; // a clock's time plus this does not overflow
    for (;;) {
      const auto now = alarm::clock::now();
      const auto next = set.begin();
      if (next == set.end()) {
        changed.wait(guard);
      } else if (next->first > now) {
        // A copy: the alarm may be destroyed, and its entry with it, while this thread waits.
        const alarm::clock::time_point until = std::min(next->first, now + longest);
        changed.wait_until(guard, until);
      } else {
        ring(guard, set.extract(next).mapped());
      }
    }
  }

  void ring(std::unique_lock<std::mutex>& guard, alarm* due) {
    due->set_ = false;
    ringing = due;  // until it is null, the alarm's destructor waits, so the node lives
    guard.unlock(); // callbacks of tokens may set and destroy other alarms
    cancel(*due->node_);
    guard.lock();
    ringing = nullptr;
    changed.notify_all();
  }
};

alarm::alarm(join::cancelable& node, clock::time_point at) : node_{&node} {
  alarm_thread& thread = alarm_thread::only_thread();
  const std::scoped_lock guard{thread.lock};
  if (!std::exchange(thread.started, true))
    vproc::start_helper([](void*) noexcept -> void* { alarm_thread::only_thread().run(); },
                        "watches the deadlines of cancel scopes");
  at_ = thread.set.emplace(at, this);
  thread.changed.notify_all(); // it may be due before the alarm that the thread waits for
}

alarm::~alarm() {
  alarm_thread& thread = alarm_thread::only_thread();
  std::unique_lock guard{thread.lock};
  if (set_)
    thread.set.erase(at_);
  else
    thread.changed.wait(guard, [&] { return thread.ringing != this; });
}

} // namespace nopal::inline NOPAL_ABI::cancel
