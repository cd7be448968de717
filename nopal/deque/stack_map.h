// SPDX-License-Identifier: MIT
//
// Deque variant `stack_map`: the stack itself is the owner's half of the deque.
//
// Open offers are nested as frames are, so all that is needed is to find them when somebody asks.
// An offer marks itself while it is open (stack/marks.h) and clears the mark when the child
// returns; no index is loaded and stored, so forks do not wait for one another through memory. The
// key is the offer's own address: the thunk that holds it always lies on the stack its worker is
// using, while the scope of a stolen frame lies on another.
//
// Invariant (under the lock, `split` restored):
//   an open offer o of this stack is private  <=>  address(o) < split
//   (the others are public or stolen); marks of private offers are exact
//
// Ownership:
//   limit        owner restores, anybody lowers
//   split        owner; a starved thief, which writes a token
//   settled_     lock holder: the true split
//   stack_       owner under the lock
//   marks        owner
// Orders:
//   L  push: limit load, mark set, light barrier, limit load. Partner: `ask`, then the heavy
//      barrier. Either the owner sees the request or the thief sees the mark (README.md,
//      "sleeping"). The first load keeps threads that are no workers from marking stacks that are
//      not ours.
//   C  pop: mark cleared, light barrier, split load. Partner: token, then the heavy barrier. Either
//      the owner sees the token or the thief sees the cleared mark (README.md, "starved").
//   A  attend: limit exchange acq_rel takes the request and what the asker wrote before it.
// Paper: ours; the private part with a movable split is after manticore-icfp08's heap-limit
// requests.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/deque/deque.h"
#include "nopal/deque/spin_lock.h"
#include "nopal/stack/marks.h"
#include "nopal/stack/stack.h"

namespace nopal::deque {

// Marks: where marks are kept. Stacks: the bounds of a stack. RingCapacity: public offers at a
// time.
template <class Offer, class Marks = stack::marks, class Stacks = stack::bounds,
          std::uint32_t RingCapacity = 8>
class stack_map {
  static_assert(alignof(Offer) == 8);

public:
  // As constructed, every push fails: also the stand-in of threads that are no workers.
  constexpr stack_map() noexcept = default;

  void open(bool fenced) noexcept { fenced_ = fenced; }

  [[gnu::always_inline]] bool push(Offer* offer) noexcept {
    const std::uintptr_t at = address(offer);
    if (arch::below(at, limit_)) [[unlikely]]
      return false;
    Marks::set(at);
    return true;
  }

  [[gnu::always_inline]] bool called(const Offer* offer) const noexcept {
    base::light_barrier(); // L
    return arch::below(address(offer), limit_);
  }

  void push_anyway(Offer* offer) noexcept { Marks::set(address(offer)); }

  [[gnu::always_inline]] bool pop(Offer* offer) noexcept {
    const std::uintptr_t at = address(offer);
    Marks::clear(at);
    base::light_barrier(); // C
    return arch::below(at, split_);
  }

  bool take_back(Offer* offer) noexcept {
    const locked guard{lock_};
    const bool starved = !fenced_ && split_.load(base::relaxed) <= highest_token;
    bool ours = address(offer) < settled_;
    if (!ours && ring_.take_back(offer)) {
      ours = true;
      settled_ = settled_before_;
    }
    restore_split();
    if (starved) // the thief that waits need not wait for its barrier
      publish_oldest();
    return ours;
  }

  // For an offer made with publish_foreign: it was never private.
  bool take_back_foreign(Offer* offer) noexcept {
    const locked guard{lock_};
    return ring_.take_back(offer);
  }

  attention attend() noexcept {
    const std::uintptr_t normal = fenced_ ? asked : Stacks::lowest_fork(stack_);
    return limit_.exchange(normal, base::acq_rel) == asked ? attention::requested // A
                                                           : attention::none;
  }

  bool publish(void* home) noexcept {
    const locked guard{lock_};
    home_ = home;
    if (publish_oldest())
      return true;
    ask(); // a thief was faster; whoever asked may sleep by now, and waits for the next offer
    return false;
  }

  void publish_foreign(Offer* offer, void* home) noexcept {
    const locked guard{lock_};
    home_ = home;
    offer->seal(0);
    ring_.push({offer, offer->frame(), home});
  }

  // `split`: all offers at or above it are taken. `stack` may be none: then there is nothing to
  // offer.
  // `home`: the computation of all that is offered from now on, also by a starved thief.
  void adopt(stack::stack_id stack, std::uintptr_t split, void* home) noexcept {
    const locked guard{lock_};
    home_ = home;
    go_on(stack, split);
  }

  outcome steal(void* home, entry<Offer>& taken) noexcept { return ring_.steal(home, taken); }

  bool anything_public() const noexcept { return !ring_.empty(); }

  void ask() noexcept {
    if (limit_.load(base::relaxed) != asked)
      limit_.store(asked, base::release);
  }

  bool publish_for_owner(std::uint32_t token) noexcept {
    if (!looks_busy())
      return !ring_.empty();
    std::uintptr_t before = split_.load(base::relaxed);
    if (before > highest_token &&
        split_.compare_exchange_strong(before, token, base::relaxed, base::relaxed)) {
      base::heavy_barrier(); // C
      const locked guard{lock_};
      if (split_.load(base::relaxed) == token) {
        publish_oldest();
        restore_split();
      }
    }
    return !ring_.empty();
  }

  bool has_work(void* home) noexcept {
    const locked guard{lock_};
    return ring_.holds(home) || (oldest_private() != nullptr && (home == nullptr || home == home_));
  }

private:
  // Lock held.
  void go_on(stack::stack_id stack, std::uintptr_t split) noexcept {
    stack_ = stack;
    settled_ = split;
    restore_split();
    if (stack == stack::no_stack)
      return;
    std::uintptr_t limit = limit_.load(base::relaxed);
    if (!fenced_ && limit != asked) // a request that arrives meanwhile stays
      limit_.compare_exchange_strong(limit, Stacks::lowest_fork(stack), base::relaxed,
                                     base::relaxed);
  }

  // Without a barrier: what it misses, the next attempt or the sleeper's check finds. Fenced owners
  // pop under the lock, so there the lock is enough to publish at once.
  bool looks_busy() noexcept {
    const locked guard{lock_};
    return fenced_ ? !publish_oldest() : ring_.empty() && oldest_private() != nullptr;
  }

  static std::uintptr_t address(const Offer* offer) noexcept {
    return reinterpret_cast<std::uintptr_t>(offer);
  }

  void restore_split() noexcept { split_.store(fenced_ ? 0 : settled_, base::relaxed); }

  bool publish_oldest() noexcept {
    if (!ring_.empty())
      return true;
    Offer* oldest = oldest_private();
    if (oldest == nullptr)
      return false;
    oldest->seal(settled_);
    ring_.push({oldest, oldest->frame(), home_});
    settled_before_ = settled_;
    settled_ = address(oldest);
    restore_split();
    return true;
  }

  // Lock held. Offers above the split have left the private part; the highest below it is the
  // oldest.
  Offer* oldest_private() const noexcept {
    if (stack_ == stack::no_stack)
      return nullptr;
    const std::uintptr_t found = Marks::highest(Stacks::bottom(stack_), settled_);
    // The search goes down while the owner may push: what it finds may lie below an older offer
    // that was pushed behind it. That one was marked first (M), so a second search sees it.
    return reinterpret_cast<Offer*>(found == 0 ? 0 : Marks::highest(found, settled_));
  }

  // Read at every fork; written by whoever wants the owner's attention.
  alignas(64) base::atomic<std::uintptr_t> limit_{asked};
  base::atomic<std::uintptr_t> split_{0};
  bool fenced_ = false;

  // Slow paths, under the lock.
  alignas(64) spin_lock lock_;
  stack::stack_id stack_ = stack::no_stack;
  std::uintptr_t settled_ = 0;
  std::uintptr_t settled_before_ = 0; // its value before the one that is public was published
  void* home_ = nullptr;

  alignas(64) public_ring<Offer, RingCapacity> ring_;
};

} // namespace nopal::deque
