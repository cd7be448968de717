// SPDX-License-Identifier: MIT
// A mutex and a condition variable that belong to strands.
//
//     nopal::mutex m;
//     {
//       std::lock_guard guard{m};
//       nopal::for_index(...);        // may end on another thread: this strand still has the lock
//     }
//
// A strand that waits is suspended, with its stack; its thread runs other strands, and it may go on
// on another one. So a lock can be held across forks and joins. A child that locks what its parent
// holds waits for ever. Both work like their namesakes in std, but for timed waits, with
// std::lock_guard, scoped_lock and unique_lock. First come, first served: `unlock` hands the mutex
// to the strand that has waited longest.
//
// Thread rules: any thread, any strand. To be destroyed when no strand waits.
// NOPAL_SERIAL: they do nothing. A wait for what does not hold already ends the program.
#pragma once

#include "nopal/config.h"

#if defined(NOPAL_SERIAL)
#include <cstdio>
#include <cstdlib>
#else
#include "nopal/sync/mutex_queue.h"
#include "nopal/sync/shared_queue.h"
#endif

#include <mutex>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

#if defined(NOPAL_SERIAL)
class NOPAL_TYPE mutex {
public:
  void lock() noexcept {}
  bool try_lock() noexcept { return true; }
  void unlock() noexcept {}
};

class NOPAL_TYPE condition_variable {
public:
  void notify_one() noexcept {}
  void notify_all() noexcept {}
  [[noreturn]] void wait(std::unique_lock<mutex>&) {
    std::fputs("nopal: the serial elision waits for a condition that nobody can fulfil\n", stderr);
    std::exit(70);
  }
  template <class Condition> void wait(std::unique_lock<mutex>& lock, Condition holds) {
    if (!holds())
      wait(lock);
  }
};
#else
namespace vproc {
struct fiber;
}

class NOPAL_TYPE mutex {
public:
  // Throws `cancelled`, without the mutex, if the strand is cancelled while it waits (cancel.h).
  void lock() {
    if (!try_lock())
      wait();
  }
  bool try_lock() noexcept { return queue_.try_hold(); }
  void unlock() noexcept {
    if (!queue_.try_free())
      hand_over();
  }

private:
  friend class condition_variable;

  NOPAL_OWN void wait();
  NOPAL_OWN void lock_anyway() noexcept; // also if the strand is cancelled
  NOPAL_OWN void hand_over() noexcept;

  sync::mutex_queue<vproc::fiber> queue_; // it cannot be copied, and so no mutex can
};

class NOPAL_TYPE condition_variable {
public:
  NOPAL_OWN void notify_one() noexcept;
  NOPAL_OWN void notify_all() noexcept;
  // The strand holds the mutex before and after. There are no spurious wake-ups, but the condition
  // may have changed again. Throws `cancelled`, with the mutex, if the strand is cancelled.
  NOPAL_OWN void wait(std::unique_lock<mutex>& lock);
  template <class Condition> void wait(std::unique_lock<mutex>& lock, Condition holds) {
    while (!holds())
      wait(lock);
  }

private:
  sync::shared_queue<vproc::fiber, sync::by_next_waiting> queue_;
};
#endif

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
