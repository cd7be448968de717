// SPDX-License-Identifier: MIT
// The ready fibers that a vproc keeps for itself. Its own thread adds and takes them without an
// atomic read-modify-write and without a fence. Another thread that has nothing to do may steal
// one: it pays for both, with the heavy barrier.
//
//   inside_   the owner is at work on the queue
//   wanted_   a thief is at work on it, or waits until the owner is not
//
// Invariant: the owner and a thief are not at work at the same time, nor are two thieves.
// Ownership: queue_ belongs to the thread that is at work; turns_ is the owner's.
// Orders:
//   K  owner: inside_ = 1, light barrier, load wanted_. Thief: wanted_ = 1, heavy barrier, load
//      inside_. Either the owner sees the thief, or the thief sees the owner and waits.
//   L  owner: inside_ store release. Partner: the thief's acquire load, which sees zero.
//   T  thief: wanted_ store release. Partner: the owner's acquire load, which sees zero.
//   The count is relaxed. `add` comes before the owner's look for sleepers, with a light barrier in
//   between; a sleeper's last look comes after its heavy barrier (README.md). So both cannot miss.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/linked_queue.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Member> class local_queue {
public:
  // Called before use. `fenced`: this kernel has no heavy barrier.
  void open(bool fenced) noexcept { fenced_ = fenced; }

  std::uint32_t count() const noexcept { return queue_.count(); }
  bool empty() const noexcept { return count() == 0; }
  // How often the owner has turned to ready fibers.
  std::uint32_t turns() const noexcept { return turns_.load(base::relaxed); }

  // Owner.
  void begin_turn() noexcept { turns_.store(turns() + 1, base::relaxed); }
  // The owner may look for sleepers next, without a fence.
  void add(Member* member) noexcept {
    enter();
    queue_.append(member);
    leave();
    barrier();
  }
  template <class Wanted = any_member> Member* take(Wanted wanted = {}) noexcept {
    if (empty())
      return nullptr;
    enter();
    Member* const first = queue_.take(wanted);
    leave();
    return first;
  }
  // The owner leaves the strand of `left` for the fiber that is returned, if `may` allows that for
  // the first one; null: nothing was done. No thief finds `left` before the owner has settled, on
  // the other stack.
  template <class May> Member* leave_for_next(Member* left, May may) noexcept {
    if (empty())
      return nullptr;
    begin_turn();
    enter();
    Member* const first = queue_.first();
    if (first == nullptr || !may(first)) { // null: a thief was faster
      leave();
      return nullptr;
    }
    return queue_.take_for(left); // the count is as before, so others do not find it empty
  }
  void settle() noexcept {
    if (inside_.load(base::relaxed) != 0)
      leave();
  }
  // Another thread: takes the first `most` that `wanted` is true for. Returns the first; each names
  // the next.
  template <class Wanted> Member* steal(Wanted wanted, std::uint32_t most = 1) noexcept {
    return as_thief<Member*>([&] { return queue_.take_all(wanted, most); });
  }
  // Another thread: whether `wanted` is true for one.
  template <class Wanted> bool holds(Wanted wanted) noexcept {
    return as_thief<bool>([&] { return queue_.holds(wanted); });
  }

private:
  template <class Result, class Work> Result as_thief(Work work) noexcept {
    if (empty())
      return {};
    const base::locked guard{thieves_};
    wanted_.store(1, base::relaxed);                                    // K
    base::heavy_barrier();                                              // K
    for (unsigned tries = 1; inside_.load(base::acquire) != 0; ++tries) // L
      base::wait_briefly(tries);
    const Result result = work();
    wanted_.store(0, base::release); // T
    return result;
  }
  void barrier() noexcept {
    if (fenced_) {
      base::full_fence();
    } else {
      base::light_barrier();
    }
  }
  void enter() noexcept {
    for (;;) {
      inside_.store(1, base::relaxed);      // K
      barrier();                            // K
      if (wanted_.load(base::acquire) == 0) // T
        return;
      leave();
      for (unsigned tries = 1; wanted_.load(base::relaxed) != 0; ++tries)
        base::wait_briefly(tries);
    }
  }
  void leave() noexcept { inside_.store(0, base::release); } // L

  base::atomic<std::uint32_t> inside_{0};
  base::atomic<std::uint32_t> wanted_{0};
  base::atomic<std::uint32_t> turns_{0};
  bool fenced_ = false;
  counted_queue<Member> queue_;
  base::spin_lock thieves_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
