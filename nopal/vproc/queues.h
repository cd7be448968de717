// SPDX-License-Identifier: MIT
//
// The queues in which fibers wait (fiber.h). A Fiber has a member `handed_over<Fiber*> next`, which
// belongs to the queue that the fiber is in.
//
//   mutex_queue      the state of a mutex: free, held, or held and wanted by the fibers in a queue
//   condition_queue  the fibers that wait for a condition
//   ready_queue      the fibers that may go on; vprocs that look for work take them
//   thread_waker     where a thread that runs no strands waits instead
//
// Contract:  a strand that holds a mutex sees what those that held it before have written; a thread
//            that takes a ready fiber, or was woken, sees what was written before that.
// Invariant: (lock_ free)  state_ == kWanted  exactly if the queue is not empty.
// Orders:
//   A  try_hold, join: acquire where it was free. Partner: R.
//   R  try_free: release. Where a fiber is in the queue there is no R: the contract then rests on
//      what wakes the fiber (the ready queue's lock, or thread_waker).
//   U  thread_waker: store release. Partner: the acquire load of the wait.
//   The count of a ready_queue is relaxed and may be wrong for a moment: `add` comes before the
//   fence W of parking.h and the look for sleepers, a sleeper's last look after its fence F. So
//   both cannot miss.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/deque/spin_lock.h"

#include <cstdint>

namespace nopal::inline NOPAL_ABI::vproc {

// First in, first out. The caller holds a lock.
template <class Fiber> class fiber_queue {
public:
  bool empty() const noexcept { return first_ == nullptr; }

  void append(Fiber* last) noexcept {
    last->next = nullptr;
    *end_ = last;
    end_ = &last->next;
  }

  // The first that `wanted` is true for; null: none.
  template <class Wanted> Fiber* take(Wanted wanted) noexcept {
    for (link* at = &first_; Fiber* const found = *at; at = &found->next) {
      if (!wanted(found))
        continue;
      Fiber* const after = found->next;
      *at = after;
      if (after == nullptr)
        end_ = at;
      return found;
    }
    return nullptr;
  }
  Fiber* take_first() noexcept {
    return take([](const Fiber*) { return true; });
  }

  Fiber* take_all() noexcept {
    Fiber* const first = first_;
    first_ = nullptr;
    end_ = &first_;
    return first;
  }

  template <class Wanted> bool holds(Wanted wanted) const noexcept {
    const Fiber* at = first_;
    while (at != nullptr && !wanted(at))
      at = at->next;
    return at != nullptr;
  }

private:
  using link = base::handed_over<Fiber*>;

  link first_{nullptr};
  base::handed_over<link*> end_{&first_}; // where the next fiber is noted
};

// First in, first out.
template <class Fiber> class condition_queue {
public:
  void add(Fiber* one) noexcept {
    const deque::locked guard{lock_};
    queue_.append(one);
  }
  Fiber* take_first() noexcept {
    const deque::locked guard{lock_};
    return queue_.take_first();
  }
  // The first one; each names the next.
  Fiber* take_all() noexcept {
    const deque::locked guard{lock_};
    return queue_.take_all();
  }

private:
  deque::spin_lock lock_;
  fiber_queue<Fiber> queue_;
};

// The fibers get the mutex in the order in which they came.
template <class Fiber> class mutex_queue {
public:
  bool try_hold() noexcept {
    std::uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, base::acquire, base::relaxed); // A
  }

  // False: the caller must `pass` it.
  bool try_free() noexcept {
    std::uint32_t expected = kHeld;
    return state_.compare_exchange_strong(expected, kFree, base::release, base::relaxed); // R
  }

  // False: it was free, and is held by the caller now.
  bool join(Fiber* one) noexcept {
    const deque::locked guard{lock_};
    std::uint32_t seen = state_.load(base::relaxed);
    for (;;) {
      const std::uint32_t then = seen == kFree ? kHeld : kWanted;
      if (!state_.compare_exchange_weak(seen, then, base::acquire, base::relaxed)) // A
        continue;
      if (seen == kFree)
        return false;
      queue_.append(one);
      return true;
    }
  }

  // Hands the mutex to the first fiber, which the caller must make ready. Null: it was not held, a
  // mistake of the user.
  Fiber* pass() noexcept {
    const deque::locked guard{lock_};
    Fiber* const next = queue_.take_first();
    if (next != nullptr && queue_.empty())
      state_.store(kHeld, base::relaxed);
    return next;
  }

private:
  enum : std::uint32_t { kFree, kHeld, kWanted };

  base::atomic<std::uint32_t> state_{kFree};
  deque::spin_lock lock_;
  fiber_queue<Fiber> queue_;
};

template <class Fiber> class ready_queue {
public:
  void add(Fiber* one) noexcept {
    const deque::locked guard{lock_};
    queue_.append(one);
    count_.fetch_add(1, base::relaxed);
  }

  template <class Wanted> Fiber* take(Wanted wanted) noexcept {
    if (count_.load(base::relaxed) == 0)
      return nullptr;
    const deque::locked guard{lock_};
    Fiber* const first = queue_.take(wanted);
    if (first != nullptr)
      count_.fetch_sub(1, base::relaxed);
    return first;
  }

  template <class Wanted> bool holds(Wanted wanted) noexcept {
    if (count_.load(base::relaxed) == 0)
      return false;
    const deque::locked guard{lock_};
    return queue_.holds(wanted);
  }

private:
  deque::spin_lock lock_;
  fiber_queue<Fiber> queue_;
  base::atomic<std::uint32_t> count_{0};
};

class thread_waker {
public:
  void wait() noexcept {
    while (woken_.load(base::acquire) == 0) // U
      base::futex_wait(woken_, 0);
  }

  // The waker may be gone before this returns; a wake-up at its old address harms nobody.
  void wake() noexcept {
    woken_.store(1, base::release); // U
    base::futex_wake_one(woken_);
  }

private:
  base::atomic<std::uint32_t> woken_{0};
};

} // namespace nopal::inline NOPAL_ABI::vproc
