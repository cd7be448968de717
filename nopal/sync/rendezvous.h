// SPDX-License-Identifier: MIT
// Where strands meet to hand over a value: the state of a channel. A strand that comes first waits
// with an offer in one of two queues, of senders and of receivers; the one that comes second takes
// the offer that has waited longest in the other queue. A place may have slots, a ring, for values
// that senders leave there and go on. A place may be closed: then nobody waits there any more.
//
// A strand may wait at several places and want one of them (a choice). Its offers are published
// under the locks of all places, taken in the order of their addresses; the first strand
// that finds one of them claims the choice. The others are stale then: others pass over them and
// remove them, and the strand withdraws what is left before its frame ends.
//
// Contract:  an offer is taken once, and a choice by one of its offers. The taker of an offer has
//            its strand's value, and makes the strand ready; the offer is not touched after that.
// Invariant: (lock free)  an offer in a queue is stale, or nobody has taken it, and the other queue
//            holds stale offers only, or offers of the same strand. Where a sender's offer is not
//            stale, all slots have values; where a receiver's is not, none has; where the place is
//            closed, there is no offer but stale ones.
// Ownership: an offer belongs to its strand before it is published; then to the holder of the lock
//            while it is in the queue; then to its taker.
// Orders:    the locks', and C of choice.h. The word of `is_plain` is relaxed: where it is out of
//            date, no offer is found, and `ready` tells under the lock.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/choice.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Fiber> struct offer {
  base::handed_over<void*> value{nullptr};    // a sender's, or a receiver's place for it
  base::handed_over<choice*> shared{nullptr}; // by the strand's offers; null: it has no other
  base::handed_over<std::uint32_t> number{0};
  base::handed_over<Fiber*> strand{nullptr};
  base::handed_over<offer*> next{nullptr};
  base::handed_over<offer*> before{nullptr};
  base::handed_over<bool> queued{false};
  base::handed_over<bool> closed{false}; // the place was closed before the offer was taken

  bool stale() const noexcept { return shared != nullptr && shared->claimed(); }
  bool claim() noexcept { return shared == nullptr || shared->claim(number); }
};

enum class side : std::uint8_t { sending, receiving };
constexpr side opposite(side to) noexcept {
  return to == side::sending ? side::receiving : side::sending;
}

// What became of a send or a receive at a place that has slots or is closed.
template <class Fiber> struct transferred {
  enum class kind : std::uint8_t { nothing, value, end };
  kind what = kind::nothing;
  Fiber* woken = nullptr; // to be made ready: its offer was taken; null: none was
};

template <class Fiber> class rendezvous {
public:
  using offer_type = offer<Fiber>;
  using outcome = transferred<Fiber>;

  explicit rendezvous(std::size_t slots = 0) noexcept : slots_{slots} {
    if (slots != 0)
      special_.store(kHasSlots, base::relaxed);
  }

  // No slots, and not closed: the caller may `take`. Else it is to `transfer`.
  bool is_plain() const noexcept { return special_.load(base::relaxed) == 0; }

  // The offer on this side that has waited longest, and is the caller's now; null: there is none.
  offer_type* take(side from) noexcept {
    if (empty(from))
      return nullptr;
    const base::locked guard{lock_};
    return claim_first(from);
  }

  // A send or a receive through the slots, if one is possible now. `values` moves the caller's
  // value: give(offer), to a receiver; keep(slot); take(slot); and fill(slot, offer), from a sender
  // to a slot. It does so under the lock, so that values leave in the order in which they came.
  template <class Values> outcome transfer(side wants, Values values) noexcept {
    const base::locked guard{lock_};
    if (wants == side::sending) {
      if (closed())
        return {outcome::kind::end};
      if (offer_type* const receiver = claim_first(side::receiving)) {
        values.give(receiver);
        return {outcome::kind::value, receiver->strand};
      }
      if (kept_ == slots_)
        return {};
      values.keep(add_slot());
      return {outcome::kind::value};
    }
    if (kept_ == 0)
      return {closed() ? outcome::kind::end : outcome::kind::nothing};
    values.take(remove_slot());
    offer_type* const sender = claim_first(side::sending);
    if (sender == nullptr)
      return {outcome::kind::value};
    values.fill(add_slot(), sender);
    return {outcome::kind::value, sender->strand};
  }

  // Returns the first of the offers that waited; each names the next. The caller sets `closed` in
  // each, and makes its strand ready. Values that are kept can still be received.
  offer_type* close() noexcept {
    const base::locked guard{lock_};
    special_.store(special_.load(base::relaxed) | kClosed, base::relaxed);
    offer_type* first = nullptr;
    offer_type* last = nullptr;
    for (const side each : {side::sending, side::receiving})
      while (offer_type* const waits = claim_first(each)) {
        waits->next = nullptr;
        if (last == nullptr)
          first = waits;
        else
          last->next = waits;
        last = waits;
      }
    return first;
  }
  bool closed() const noexcept { return (special_.load(base::relaxed) & kClosed) != 0; }

  // Around the next two, for all places of a choice.
  base::spin_lock& lock() noexcept { return lock_; }

  // Lock held. Whether somebody waits on this side.
  bool awaited(side on) noexcept {
    queue& offers = queue_of(on);
    while (offers.first != nullptr && offers.first->stale())
      remove(offers, offers.first);
    return offers.first != nullptr;
  }
  // Lock held. Whether a strand that wants this need not wait.
  bool ready(side wants) noexcept {
    return (!is_plain() && (closed() || kept_ != (wants == side::sending ? slots_ : 0))) ||
           awaited(opposite(wants));
  }
  // Lock held, and not `ready`.
  void publish(side on, offer_type* given) noexcept {
    queue& to = queue_of(on);
    offer_type* const last = to.last;
    given->before = last;
    given->next = nullptr;
    given->queued = true;
    (last == nullptr ? to.first : last->next) = given;
    to.last = given;
    to.count.store(to.count.load(base::relaxed) + 1, base::relaxed);
  }

  // The strand, after another of its offers was taken.
  void withdraw(side from, offer_type* given) noexcept {
    const base::locked guard{lock_};
    if (given->queued)
      remove(queue_of(from), given);
  }

  // The answer may be out of date at once. `take` may miss an offer that is being published; its
  // publisher looks at the other side under the lock, where the caller publishes next.
  bool empty(side asked) const noexcept {
    return queues_[index(asked)].count.load(base::relaxed) == 0;
  }

private:
  struct queue {
    base::handed_over<offer_type*> first{nullptr};
    base::handed_over<offer_type*> last{nullptr};
    base::atomic<std::uint32_t> count{0};
  };

  static constexpr std::uint32_t kHasSlots = 1;
  static constexpr std::uint32_t kClosed = 2;

  static unsigned index(side which) noexcept { return which == side::sending ? 0 : 1; }
  queue& queue_of(side which) noexcept { return queues_[index(which)]; }

  // Lock held.
  offer_type* claim_first(side from) noexcept {
    queue& offers = queue_of(from);
    while (offer_type* const first = offers.first) {
      remove(offers, first);
      if (first->claim())
        return first;
    }
    return nullptr;
  }
  // Lock held. The slot that the next value goes to, and the slot of the oldest value.
  std::size_t add_slot() noexcept {
    const std::size_t slot = oldest_ + kept_;
    kept_ = kept_ + 1;
    return slot < slots_ ? slot : slot - slots_;
  }
  std::size_t remove_slot() noexcept {
    const std::size_t slot = oldest_;
    oldest_ = slot + 1 == slots_ ? 0 : slot + 1;
    kept_ = kept_ - 1;
    return slot;
  }
  // Lock held.
  static void remove(queue& from, offer_type* given) noexcept {
    offer_type* const before = given->before;
    offer_type* const next = given->next;
    (before == nullptr ? from.first : before->next) = next;
    (next == nullptr ? from.last : next->before) = before;
    given->queued = false;
    from.count.store(from.count.load(base::relaxed) - 1, base::relaxed);
  }

  base::spin_lock lock_;
  base::atomic<std::uint32_t> special_{0};
  queue queues_[2];
  const std::size_t slots_;
  base::handed_over<std::size_t> kept_{0}; // values in the slots
  base::handed_over<std::size_t> oldest_{0};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
