// SPDX-License-Identifier: MIT
// Where strands meet to hand over a value without a buffer: the state of a channel. A strand that
// comes first waits with an offer in one of two queues, of senders and of receivers; the one that
// comes second takes the offer that has waited longest in the other queue.
//
// A strand may wait at several places and want one of them (a choice). Its offers are published
// under the locks of all places, taken in the order of their addresses; the first strand
// that finds one of them claims the choice. The others are stale then: others pass over them and
// remove them, and the strand withdraws what is left before its frame ends.
//
// Contract:  an offer is taken once, and a choice by one of its offers. The taker of an offer has
//            its strand's value, and makes the strand ready; the offer is not touched after that.
// Invariant: (lock free)  an offer in a queue is stale, or nobody has taken it, and the other queue
//            holds stale offers only, or offers of the same strand.
// Ownership: an offer belongs to its strand before it is published; then to the holder of the lock
//            while it is in the queue; then to its taker.
// Orders:    the locks', and C of choice.h.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/choice.h"

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

  bool stale() const noexcept { return shared != nullptr && shared->claimed(); }
  bool claim() noexcept { return shared == nullptr || shared->claim(number); }
};

enum class side : std::uint8_t { sending, receiving };
constexpr side opposite(side to) noexcept {
  return to == side::sending ? side::receiving : side::sending;
}

template <class Fiber> class rendezvous {
public:
  using offer_type = offer<Fiber>;

  // The offer on this side that has waited longest, and is the caller's now; null: there is none.
  offer_type* take(side from) noexcept {
    if (empty(from))
      return nullptr;
    const base::locked guard{lock_};
    queue& offers = queue_of(from);
    while (offer_type* const first = offers.first) {
      remove(offers, first);
      if (first->claim())
        return first;
    }
    return nullptr;
  }

  // Around the next two, for all places of a choice.
  base::spin_lock& lock() noexcept { return lock_; }

  // Lock held. Whether somebody waits on this side.
  bool awaited(side on) noexcept {
    queue& offers = queue_of(on);
    while (offers.first != nullptr && offers.first->stale())
      remove(offers, offers.first);
    return offers.first != nullptr;
  }
  // Lock held, and nobody waits on the other side.
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

  static unsigned index(side which) noexcept { return which == side::sending ? 0 : 1; }
  queue& queue_of(side which) noexcept { return queues_[index(which)]; }

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
  queue queues_[2];
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
