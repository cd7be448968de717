// SPDX-License-Identifier: MIT
// Permits that strands take and give back, and the fibers that wait for one, which get it in the
// order in which they came: the state of a semaphore, and of a mutex, which is one permit.
//
//   state = 2 * permits that are free + kWanted
//
// Contract:  a strand that takes a permit sees what those that gave it back before have written.
// Invariant: (lock free)  while kWanted is set, a fiber is in the queue, no permit is free, and
//            only the holder of the lock changes the state. While it is not set, all fibers in the
//            queue are cancelled ones.
// Orders:
//   A  try_hold, join: acquire where a permit was free. Partner: R.
//   R  try_free, give: release. Where a fiber of the queue gets the permit, the contract rests on
//      what wakes the fiber (the ready queue's lock, or thread_waker).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/sync/wait_list.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Fiber> class permit_queue {
public:
  using count = std::uint64_t;
  static constexpr count most = ~count{0} >> 2;

  explicit permit_queue(count free = 1) noexcept : state_{free * kOne} {}

  bool try_hold() noexcept {
    count seen = kOne; // the guess of a mutex
    do {
      if (state_.compare_exchange_strong(seen, seen - kOne, base::acquire, base::relaxed)) // A
        return true;
    } while (seen >= kOne);
    return false;
  }

  // Of a mutex. False: the caller must `pass` it.
  bool try_free() noexcept {
    count none_free = 0;
    return state_.compare_exchange_strong(none_free, kOne, base::release, base::relaxed); // R
  }

  // False: one was free, and is held by the caller now.
  bool join(Fiber* fiber) noexcept {
    return waiting_.join(fiber, [this] {
      count seen = state_.load(base::relaxed);
      count next = 0;
      do
        next = seen >= kOne ? seen - kOne : kWanted;
      while (!state_.compare_exchange_weak(seen, next, base::acquire, base::relaxed)); // A
      return seen >= kOne;
    });
  }

  struct passed {
    bool was_held = false; // else it is a mistake of the user
    Fiber* to = nullptr;   // the caller must make it ready; null: all in the queue are cancelled
  };
  // Of a mutex: hands it to the first fiber, or frees it.
  passed pass() noexcept {
    if (state_.load(base::relaxed) >= kOne)
      return {};
    return {true, give(1)};
  }

  // Hands so many permits to the first fibers, and frees the rest. Returns the first of these
  // fibers, to be made ready; each names the next.
  Fiber* give(count number) noexcept {
    count seen = state_.load(base::relaxed);
    while ((seen & kWanted) == 0)
      if (state_.compare_exchange_weak(seen, seen + number * kOne, base::release,
                                       base::relaxed)) // R
        return nullptr;
    const base::locked guard{waiting_.lock()};
    if ((state_.load(base::relaxed) & kWanted) == 0) { // the last fiber has left meanwhile
      state_.fetch_add(number * kOne, base::release);  // R
      return nullptr;
    }
    linked_queue<Fiber, by_next_waiting> served;
    for (; number != 0; --number) {
      Fiber* const next = waiting_.queue().take(claimable{});
      if (next == nullptr)
        break;
      served.append(next);
    }
    if (number != 0)
      state_.store(number * kOne, base::release); // R
    else if (waiting_.queue().empty())
      state_.store(0, base::relaxed); // nobody wants a permit, and none is free
    return served.first();
  }

  // A fiber that was cancelled or has waited too long, and gets no permit.
  void leave(Fiber* fiber) noexcept {
    const base::locked guard{waiting_.lock()};
    waiting_.queue().remove(fiber);
    count wanted = kWanted;
    if (waiting_.queue().empty()) // a permit may have become free
      state_.compare_exchange_strong(wanted, 0, base::relaxed, base::relaxed);
  }

private:
  static constexpr count kWanted = 1;
  static constexpr count kOne = 2;

  base::atomic<count> state_;
  wait_list<Fiber> waiting_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
