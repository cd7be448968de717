// SPDX-License-Identifier: MIT
//
// Strands that wait: in line for something that another has, then, ready, for a worker.
//
// A Waiter has a member `handed_over<Waiter*> next`, which is for the line that it is in.
//
//   turn         nobody has it, or one strand, and others are in line: a mutex
//   locked_line  a condition's
//   ready_line   strands that may go on; looked at by whoever looks for work
//   wake_once    where a thread that is no worker waits instead
//
// Contract:  who has a turn sees what was written by those who had it before; who takes a ready
//            strand, or was woken, what was written before it was made ready.
// Invariant: (lock_ free)  state_ == kWanted  exactly if the line is not empty.
// Orders:
//   A  try_take, join: acquire where it was free. Partner: R.
//   R  try_free: release. Where somebody is in line no R comes between: the contract then rests on
//      what wakes the waiter (ready_line's lock, wake_once).
//   U  wake_once: store release. Partner: the acquire load of the wait.
//   The count of a ready_line is a hint, relaxed: add, then fence W of parking.h and the look for
//   sleepers; a sleeper's last look comes behind its fence F. Both cannot miss.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/deque/spin_lock.h"

#include <cstdint>

namespace nopal::inline NOPAL_ABI::vproc {

// In the order in which they came. Under a lock of whoever has it.
template <class Waiter> class line {
public:
  bool empty() const noexcept { return first_ == nullptr; }

  void append(Waiter* last) noexcept {
    last->next = nullptr;
    Waiter* const before = last_;
    (empty() ? first_ : before->next) = last;
    last_ = last;
  }

  // The first that `wanted` is true for; null: none.
  template <class Wanted> Waiter* take(Wanted wanted) noexcept {
    Waiter* before = nullptr;
    for (Waiter* at = first_; at != nullptr; before = at, at = at->next) {
      if (!wanted(at))
        continue;
      Waiter* const after = at->next;
      (before == nullptr ? first_ : before->next) = after;
      if (after == nullptr)
        last_ = before;
      return at;
    }
    return nullptr;
  }
  Waiter* take_first() noexcept {
    return take([](const Waiter*) { return true; });
  }

  Waiter* take_all() noexcept {
    Waiter* const first = first_;
    first_ = nullptr;
    last_ = nullptr;
    return first;
  }

  template <class Wanted> bool holds(Wanted wanted) const noexcept {
    const Waiter* at = first_;
    while (at != nullptr && !wanted(at))
      at = at->next;
    return at != nullptr;
  }

private:
  base::handed_over<Waiter*> first_{nullptr};
  base::handed_over<Waiter*> last_{nullptr};
};

// For a condition.
template <class Waiter> class locked_line {
public:
  void add(Waiter* strand) noexcept {
    const deque::locked guard{lock_};
    line_.append(strand);
  }
  Waiter* take_first() noexcept {
    const deque::locked guard{lock_};
    return line_.take_first();
  }
  // The first; the others follow, each the next of the one before.
  Waiter* take_all() noexcept {
    const deque::locked guard{lock_};
    return line_.take_all();
  }

private:
  deque::spin_lock lock_;
  line<Waiter> line_;
};

// First come, first served.
template <class Waiter> class turn {
public:
  bool try_take() noexcept {
    std::uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kTaken, base::acquire, base::relaxed); // A
  }

  // False: somebody is in line, and gets it by `pass`.
  bool try_free() noexcept {
    std::uint32_t expected = kTaken;
    return state_.compare_exchange_strong(expected, kFree, base::release, base::relaxed); // R
  }

  // False: it is ours.
  bool join(Waiter* strand) noexcept {
    const deque::locked guard{lock_};
    std::uint32_t seen = state_.load(base::relaxed);
    for (;;) {
      const std::uint32_t then = seen == kFree ? kTaken : kWanted;
      if (!state_.compare_exchange_weak(seen, then, base::acquire, base::relaxed)) // A
        continue;
      if (seen == kFree)
        return false;
      line_.append(strand);
      return true;
    }
  }

  // Who has it now and is to be made ready. Null: nobody had it, a mistake.
  Waiter* pass() noexcept {
    const deque::locked guard{lock_};
    Waiter* const next = line_.take_first();
    if (next != nullptr && line_.empty())
      state_.store(kTaken, base::relaxed);
    return next;
  }

private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kTaken = 1;
  static constexpr std::uint32_t kWanted = 2;

  base::atomic<std::uint32_t> state_{kFree};
  deque::spin_lock lock_;
  line<Waiter> line_;
};

template <class Waiter> class ready_line {
public:
  void add(Waiter* strand) noexcept {
    const deque::locked guard{lock_};
    line_.append(strand);
    count_.fetch_add(1, base::relaxed);
  }

  template <class Wanted> Waiter* take(Wanted wanted) noexcept {
    if (count_.load(base::relaxed) == 0)
      return nullptr;
    const deque::locked guard{lock_};
    Waiter* const first = line_.take(wanted);
    if (first != nullptr)
      count_.fetch_sub(1, base::relaxed);
    return first;
  }

  template <class Wanted> bool holds(Wanted wanted) noexcept {
    if (count_.load(base::relaxed) == 0)
      return false;
    const deque::locked guard{lock_};
    return line_.holds(wanted);
  }

private:
  deque::spin_lock lock_;
  line<Waiter> line_;
  base::atomic<std::uint32_t> count_{0};
};

class wake_once {
public:
  void wait() noexcept {
    while (woken_.load(base::acquire) == 0) // U
      base::futex_wait(woken_, 0);
  }

  // It may be gone before this returns. Its address may not fault: it is on a stack.
  void wake() noexcept {
    base::atomic<std::uint32_t>& woken = woken_;
    woken.store(1, base::release); // U
    base::futex_wake_one(woken);
  }

private:
  base::atomic<std::uint32_t> woken_{0};
};

} // namespace nopal::inline NOPAL_ABI::vproc
