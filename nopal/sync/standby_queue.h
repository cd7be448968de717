// SPDX-License-Identifier: MIT
// Items of work, and runners that call them one after the other (nopal/work_queue.h). An item may
// wait for another one, and then keeps its runner. So where items are left one more runner is
// ready, or looks for items, before one calls an item: the standby.
//
// An item is in the common queue, or in the list of a runner, which has what the runner has taken
// from the common queue, a batch at a time, and not called yet, and what its items have added. So
// threads seldom meet at one cache line. The standby takes from these lists, too: half of one. A
// runner at work does so now and then, from a list whose runner does not get on.
//
// Where there is a standby, another runner that finds no item follows: it waits, at a word of its
// own, until it is the standby.
//
// Contract:  an item that was added is taken once, by a runner that sees what was written before,
//            whatever other items wait for. When `add` has returned, `begun` has counted a runner
//            that does not end before the item was taken.
// Invariant: (no lock held, and no thread in `add` or `take`)  if an item is in a queue or list,
//            there is a standby. idle_ = the standby, if it looks, and the followers.
// Ownership: `state_` and what is declared behind it: written under lock_. A list: its own lock.
// Orders:
//   S  A runner that was the standby stores kNone, and then looks into each place. Whoever has
//      added items loads the state then. At least one of the two sees the other: for the common
//      queue by its lock, which both take; for a list by the fences of both. Whoever adds to a list
//      that is not empty needs none: an item of it has been announced, or is about to be.
//   C  The state is stored with release when `begun` has counted; kLooks behind the fence of S,
//      which releases as much. Partner: the acquire load of who adds.
//   The word that tells a follower is relaxed; the follower takes the lock then. The counts are
//   hints.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/batch_queue.h"
#include "nopal/sync/linked_queue.h"
#include "nopal/sync/runner_items.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

// Most: the items of a batch. Visit: a runner looks into another list each so many batches.
template <class Item, std::uint32_t Most = 32, std::uint32_t Visit = 8> class standby_queue {
public:
  // Begins as the standby.
  struct alignas(64) runner {
    base::handed_over<runner*> next{nullptr}; // the queue's lock guards both
    base::handed_over<runner*> before{nullptr};
    runner_items<Item> items;

    enum role : unsigned { stands_by, looks, follows, works_alone };
    bool works = false;                  // its own: the last step had an item
    std::uint32_t batches = 0;           // its own
    unsigned patience = 1;               // its own: how long it waits before it looks
    base::atomic<std::uint32_t> told{0}; // it is to look no longer
    // The queue's lock guards the rest.
    base::handed_over<role> is{role::stands_by};
    base::handed_over<bool> listed{false};
    base::handed_over<runner*> next_waiting{nullptr};
    base::handed_over<runner*> before_waiting{nullptr};
  };

  // True: the caller is to make a runner, the standby, for which `begun` was called under the lock.
  template <class Begun> bool add(Item* last, Begun begun) noexcept {
    items_.append(last);
    return call_standby(begun);
  }
  // The same for an item that goes before the others. `own`: the runner whose item adds it, or
  // null. A standby that looks finds it in the common queue.
  template <class Begun> bool add_first(Item* first, runner* own, Begun begun) noexcept {
    if (own == nullptr || state_.load(base::relaxed) == kLooks) {
      items_.prepend(first);
    } else {
      if (!own->items.prepend(first))
        return false;
      base::full_fence(); // S
    }
    return call_standby(begun);
  }

  // A runner's next step. It calls the item, if it has one, after it has made a runner if it is to;
  // or it looks for items and asks again; or it ends.
  struct step {
    Item* item = nullptr;
    bool makes_runner = false;
    bool ends = false;
    bool follows = false; // as it looks
  };
  struct rules {
    std::uint32_t most_at_work;
    bool may_look;
    bool awaited; // somebody waits until all runners have ended
  };
  // One that has looked, or may not, ends where there is no item. So do all that look when nobody
  // is at work and their end is awaited; and one beyond `most_at_work` where another one stands by:
  // it has gone on after a wait, or a tick.
  template <class Begun> step take(runner& own, rules by, Begun begun) noexcept {
    if (!own.works)
      return take_as_standby(own, by, begun);
    if (Item* const next = own.items.take())
      return {next};
    const std::uint32_t seen = state_.load(base::relaxed);
    batch<Item> got;
    if (seen == kNone || runners_.load(base::relaxed) <= by.most_at_work) {
      if (++own.batches % Visit == 0)
        got = visit_next();
      if (got.number == 0 && items_.count() >= (seen == kLooks ? Most : 1))
        got = items_.take(); // few are left to a standby that looks, so that they become more
    }
    if (got.number == 0)
      return take_as_standby(own, by, begun);
    if (!own.items.keep_rest(got))
      return {got.first};
    base::full_fence(); // S
    return {got.first, call_standby(begun)};
  }

  // Until there seems to be an item for the standby, or the runner is told. Each look at the queue
  // delays whoever adds items. So the standby looks rarely where many wait; and where it has found
  // items at its first look, it lets more of them come the next time.
  template <class Awaited> void look(runner& own, bool follows, const Awaited& awaited) noexcept {
    const unsigned first = awaited() ? 1 : own.patience;
    own.patience = 1;
    unsigned next = first;
    for (unsigned n = 1; n < 128 && own.told.load(base::relaxed) == 0; ++n) {
      base::wait_briefly(n);
      if (follows || n < next)
        continue;
      const std::uint32_t idle = idle_.load(base::relaxed);
      if (items_.count() != 0) {
        if (n == first)
          own.patience = n < kMostPatience ? 2 * n : n;
        return;
      }
      if (awaited() && idle == runners_.load(base::relaxed))
        return;
      next = n + idle;
    }
  }

private:
  static constexpr std::uint32_t kNone = 0;  // there is no standby
  static constexpr std::uint32_t kReady = 1; // it has not taken a step since it became it
  static constexpr std::uint32_t kLooks = 2;
  static constexpr unsigned kMostPatience = 16;
  using role = typename runner::role;

  template <class Begun> step take_as_standby(runner& own, rules by, Begun begun) noexcept {
    const base::locked guard{lock_};
    const bool begins = !own.listed;
    leave_role(own);
    const std::uint32_t seen = state_.load(base::relaxed);
    if (seen != kNone && runners_.load(base::relaxed) > by.most_at_work)
      return end(own, by);
    if (seen != kLooks || !by.may_look) { // else the standby will have looked
      base::full_fence();                 // S
      batch<Item> got = begins ? steal() : items_.take();
      if (got.number == 0)
        got = begins ? items_.take() : steal();
      if (got.number != 0) {
        own.works = true;
        const bool keeps = own.items.keep_rest(got);
        return {got.first, (keeps || any_left()) && begin_standby(begun)};
      }
    }
    const std::uint32_t idle = idle_.load(base::relaxed) + 1;
    if (!by.may_look || (by.awaited && idle == runners_.load(base::relaxed)))
      return end(own, by);
    idle_.store(idle, base::relaxed);
    own.is = seen == kNone ? role::looks : role::follows;
    if (seen == kNone)
      state_.store(kLooks, base::relaxed); // C
    else
      followers_.prepend(&own);
    return {.follows = seen != kNone};
  }
  batch<Item> steal() noexcept {
    batch<Item> got;
    for (runner* at = all_.first(); at != nullptr && got.number == 0; at = at->next)
      got = at->items.steal_half();
    return got;
  }
  void leave_role(runner& own) noexcept {
    const role was = own.is;
    if (!own.listed)
      all_.append(&own);
    own.listed = true;
    if (was == role::looks || was == role::stands_by)
      state_.store(kNone, base::relaxed);
    if (was == role::follows)
      followers_.remove(&own);
    if (was == role::looks || was == role::follows)
      idle_.store(idle_.load(base::relaxed) - 1, base::relaxed);
    own.is = role::works_alone;
    own.works = false;
    own.told.store(0, base::relaxed);
  }
  step end(runner& own, rules by) noexcept {
    all_.remove(&own);
    runners_.store(runners_.load(base::relaxed) - 1, base::relaxed);
    if (by.awaited && idle_.load(base::relaxed) == runners_.load(base::relaxed))
      for (runner* at = all_.first(); at != nullptr; at = at->next)
        at->told.store(1, base::relaxed);
    return {.ends = true};
  }

  template <class Begun> bool call_standby(Begun begun) noexcept {
    if (state_.load(base::acquire) != kNone) // C
      return false;
    const base::locked guard{lock_};
    return any_left() && begin_standby(begun); // the item may have been taken
  }
  template <class Begun> bool begin_standby(Begun begun) noexcept {
    if (state_.load(base::relaxed) != kNone)
      return false;
    runner* const follower = followers_.take();
    if (follower == nullptr) {
      runners_.store(runners_.load(base::relaxed) + 1, base::relaxed);
      begun();
    } else {
      idle_.store(idle_.load(base::relaxed) - 1, base::relaxed);
      follower->is = role::stands_by;
      follower->told.store(1, base::relaxed);
    }
    state_.store(kReady, base::release); // C
    return follower == nullptr;
  }
  bool any_left() noexcept {
    return items_.any() || // S
           all_.holds([](const runner* each) { return each->items.count() != 0; });
  }
  // What a runner keeps that has not gone on since the last visit; each has its turn.
  batch<Item> visit_next() noexcept {
    const base::locked guard{lock_};
    runner* const visited = all_.take();
    all_.append(visited);
    return visited->items.steal_stuck();
  }

  batch_queue<Item, Most> items_;
  alignas(64) base::spin_lock lock_;
  base::atomic<std::uint32_t> state_{kNone};
  base::atomic<std::uint32_t> runners_{0}; // that were begun and have not ended
  base::atomic<std::uint32_t> idle_{0};
  linked_queue<runner, by_next_and_before> all_;
  linked_queue<runner, by_next_waiting> followers_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
