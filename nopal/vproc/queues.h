// SPDX-License-Identifier: MIT
// The queues in which fibers wait (fiber.h). A Member, a fiber or a suspended worker, has a member
// `handed_over<Member*> next`, which belongs to the queue that it is in.
//
//   mutex_queue   the state of a mutex: free, held, or held and wanted by the fibers in a queue
//   shared_queue  the fibers that wait for a condition; those that are ready, for vprocs to take;
//                 the suspended workers (suspended.h)
//   thread_waker  where a thread that runs no strands waits instead
//
// Contract:  a strand that holds a mutex sees what those that held it before have written; a thread
//            that takes a ready fiber, or was woken, sees what was written before that.
// Invariant: (lock_ free)  state_ == kWanted  exactly if the queue is not empty.
// Orders:
//   A  try_hold, join: acquire where it was free. Partner: R.
//   R  try_free: release. Where a fiber is in the queue there is no R: the contract then rests on
//      what wakes the fiber (the ready queue's lock, or thread_waker).
//   U  thread_waker: store release. Partner: the acquire load of the wait.
//   The count of a shared_queue is relaxed and may be wrong for a moment. Ready fibers: `add` comes
//   before the fence W of parking.h and the look for sleepers, a sleeper's last look after its
//   fence F. So both cannot miss. A condition: `add` comes before the unlock of the mutex, so a
//   strand that has held the mutex since sees the count.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/deque/spin_lock.h"

#include <cstdint>

namespace nopal::inline NOPAL_ABI::vproc {

struct anyone {
  bool operator()(const void*) const noexcept { return true; }
};

// First in, first out. The caller holds a lock.
template <class Member> class linked_queue {
public:
  bool empty() const noexcept { return first_ == nullptr; }
  Member* first() const noexcept { return first_; }

  void append(Member* last) noexcept {
    last->next = nullptr;
    Member* const before = last_;
    (empty() ? first_ : before->next) = last;
    last_ = last;
  }

  // The first that `wanted` is true for; null: none.
  template <class Wanted = anyone> Member* take(Wanted wanted = {}) noexcept {
    Member* before = nullptr;
    for (Member* at = first_; at != nullptr; before = at, at = at->next) {
      if (!wanted(at))
        continue;
      Member* const after = at->next;
      (before == nullptr ? first_ : before->next) = after;
      if (after == nullptr)
        last_ = before;
      return at;
    }
    return nullptr;
  }

  Member* take_all() noexcept {
    Member* const first = first_;
    first_ = nullptr;
    last_ = nullptr;
    return first;
  }

  template <class Wanted> bool holds(Wanted wanted) const noexcept {
    Member* at = first_;
    while (at != nullptr && !wanted(at))
      at = at->next;
    return at != nullptr;
  }

private:
  base::handed_over<Member*> first_{nullptr};
  base::handed_over<Member*> last_{nullptr};
};

template <class Member> class shared_queue {
public:
  bool empty() const noexcept { return count_.load(base::relaxed) == 0; }

  void add(Member* one) noexcept {
    const deque::locked guard{lock_};
    queue_.append(one);
    count_.fetch_add(1, base::relaxed);
  }

  template <class Wanted = anyone> Member* take(Wanted wanted = {}) noexcept {
    if (empty())
      return nullptr;
    const deque::locked guard{lock_};
    return take_out(wanted);
  }

  // The first one; each names the next.
  Member* take_all() noexcept {
    const deque::locked guard{lock_};
    count_.store(0, base::relaxed);
    return queue_.take_all();
  }

  template <class Wanted> bool holds(Wanted wanted) noexcept {
    if (empty())
      return false;
    const deque::locked guard{lock_};
    return queue_.holds(wanted);
  }

protected:
  // Lock held.
  template <class Wanted> Member* take_out(Wanted wanted) noexcept {
    Member* const first = queue_.take(wanted);
    if (first != nullptr)
      count_.fetch_sub(1, base::relaxed);
    return first;
  }

  deque::spin_lock lock_;

private:
  linked_queue<Member> queue_;
  base::atomic<std::uint32_t> count_{0};
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
    Fiber* const next = queue_.take();
    if (next != nullptr && queue_.empty())
      state_.store(kHeld, base::relaxed);
    return next;
  }

private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kWanted = 2;

  base::atomic<std::uint32_t> state_{kFree};
  deque::spin_lock lock_;
  linked_queue<Fiber> queue_;
};

class thread_waker {
public:
  void wait() noexcept {
    while (woken_.load(base::acquire) == 0) // U
      base::futex_wait(woken_, 0);
  }

  // This object may be gone before this returns; a wake-up at its old address harms nobody.
  void wake() noexcept {
    base::atomic<std::uint32_t>& woken = woken_;
    woken.store(1, base::release); // U
    base::futex_wake_one(woken);
  }

private:
  base::atomic<std::uint32_t> woken_{0};
};

} // namespace nopal::inline NOPAL_ABI::vproc
