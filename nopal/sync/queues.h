// SPDX-License-Identifier: MIT
// The queues in which fibers wait (fiber.h). A Member, a fiber or a suspended worker, has a member
// `handed_over<Member*> next`, which belongs to the queue that it is in; a fiber that waits for
// something, and may be made ready before it has left that queue, is linked there by
// `next_waiting`.
//
//   mutex_queue   the state of a mutex: free, held, or held and wanted by the fibers in a queue
//   shared_queue  the fibers that wait for a condition; those that are ready, for vprocs to take;
//                 the suspended workers (suspended.h)
//   thread_waker  where a thread that runs no strands waits instead
//
// Contract:  a strand that holds a mutex sees what those that held it before have written; a thread
//            that takes a ready fiber, or was woken, sees what was written before that.
// Invariant: (lock_ free)  state_ == kWanted  exactly if the mutex is held and a fiber is in the
//            queue that was there, cancelled or not, when the mutex was held last or came since.
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
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

struct anyone {
  bool operator()(const void*) const noexcept { return true; }
};
// Of those that wait, not one that was cancelled (choice.h): that one removes itself.
struct claimable {
  template <class Fiber> bool operator()(Fiber* one) const noexcept { return one->claim(); }
};

struct by_next {
  template <class Member> static auto& of(Member* one) noexcept { return one->next; }
};
struct by_next_waiting {
  template <class Member> static auto& of(Member* one) noexcept { return one->next_waiting; }
};

// First in, first out. The caller holds a lock.
template <class Member, class Link = by_next> class linked_queue {
public:
  bool empty() const noexcept { return first_ == nullptr; }
  Member* first() const noexcept { return first_; }

  void append(Member* last) noexcept {
    Link::of(last) = nullptr;
    Member* const before = last_;
    (empty() ? first_ : Link::of(before)) = last;
    last_ = last;
  }

  // The first that `wanted` is true for; null: none.
  template <class Wanted = anyone> Member* take(Wanted wanted = {}) noexcept {
    Member* before = nullptr;
    for (Member* at = first_; at != nullptr; before = at, at = Link::of(at)) {
      if (!wanted(at))
        continue;
      Member* const after = Link::of(at);
      (before == nullptr ? first_ : Link::of(before)) = after;
      if (after == nullptr)
        last_ = before;
      return at;
    }
    return nullptr;
  }

  // Those that `wanted` is true for; returns the first, each names the next.
  template <class Wanted = anyone> Member* take_all(Wanted wanted = {}) noexcept {
    linked_queue taken;
    linked_queue left;
    for (Member* at = first_; at != nullptr;) {
      Member* const next = Link::of(at);
      (wanted(at) ? taken : left).append(at);
      at = next;
    }
    first_ = left.first();
    last_ = static_cast<Member*>(left.last_);
    return taken.first();
  }

  template <class Wanted> bool holds(Wanted wanted) const noexcept {
    Member* at = first_;
    while (at != nullptr && !wanted(at))
      at = Link::of(at);
    return at != nullptr;
  }

private:
  base::handed_over<Member*> first_{nullptr};
  base::handed_over<Member*> last_{nullptr};
};

template <class Member, class Link = by_next> class shared_queue {
public:
  std::uint32_t count() const noexcept { return count_.load(base::relaxed); }
  bool empty() const noexcept { return count() == 0; }

  void add(Member* one) noexcept {
    const base::locked guard{lock_};
    queue_.append(one);
    count_.fetch_add(1, base::relaxed);
  }

  template <class Wanted = anyone> Member* take(Wanted wanted = {}) noexcept {
    if (empty())
      return nullptr;
    const base::locked guard{lock_};
    return take_out(wanted);
  }

  // As linked_queue's.
  template <class Wanted = anyone> Member* take_all(Wanted wanted = {}) noexcept {
    const base::locked guard{lock_};
    return queue_.take_all([&](Member* one) {
      const bool taken = wanted(one);
      count_.fetch_sub(taken ? 1 : 0, base::relaxed);
      return taken;
    });
  }
  // If it is there.
  void remove(const Member* one) noexcept {
    const base::locked guard{lock_};
    take_out([one](const Member* at) { return at == one; });
  }

  template <class Wanted> bool holds(Wanted wanted) noexcept {
    if (empty())
      return false;
    const base::locked guard{lock_};
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

  base::spin_lock lock_;

private:
  linked_queue<Member, Link> queue_;
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
    const base::locked guard{lock_};
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

  struct passed {
    bool was_held = false; // else it is a mistake of the user
    Fiber* to = nullptr;   // the caller must make it ready; null: all in the queue are cancelled
  };
  // Hands the mutex to the first fiber, or frees it.
  passed pass() noexcept {
    const base::locked guard{lock_};
    if (state_.load(base::relaxed) == kFree)
      return {};
    Fiber* const next = queue_.take(claimable{});
    if (next == nullptr)
      state_.store(kFree, base::release); // R
    else if (queue_.empty())
      state_.store(kHeld, base::relaxed);
    return {true, next};
  }

  // A fiber that was cancelled, and does not get the mutex.
  void leave(const Fiber* one) noexcept {
    const base::locked guard{lock_};
    queue_.take([one](const Fiber* at) { return at == one; });
    std::uint32_t wanted = kWanted;
    if (queue_.empty()) // the holder may have freed it
      state_.compare_exchange_strong(wanted, kHeld, base::relaxed, base::relaxed);
  }

private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kWanted = 2;

  base::atomic<std::uint32_t> state_{kFree};
  base::spin_lock lock_;
  linked_queue<Fiber, by_next_waiting> queue_;
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

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
