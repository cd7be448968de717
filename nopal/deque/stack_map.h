// SPDX-License-Identifier: MIT
//
// The deque: the stack itself is the owner's half of the deque.
//
// Open offers are nested as frames are, so all that is needed is to find them when somebody asks.
// An offer marks itself while it is open (stack/marks.h) and unmarks itself when the child returns;
// no index is loaded and stored, so forks do not wait for one another through memory. The key is
// the offer's own address: the thunk that holds it always lies on the stack its worker is using,
// while the scope of a stolen frame lies on another.
//
// Invariant (under the lock):
//   an open offer o of this stack is private  <=>  address(o) < settled
//   (the others are public or stolen, and claimed: their pops take the slow path)
//
// Ownership:
//   limit's stack   owner under the lock
//   settled_        lock holder
//   marks           owner; a starved thief claims some
// Orders:
//   L  push: mark set, light barrier, limit load. Partner: `ask`, then the heavy barrier. Either
//      the owner sees the request or the thief sees the mark (README.md, "sleeping").
//   C  pop: one instruction reads and changes the mark. Partner: the claim, then the heavy barrier.
//      Either the owner sees the claim or the thief sees the changed mark (README.md, "starved").
// Paper: ours; the private part with a movable split is after manticore-icfp08's heap-limit
// requests.
#pragma once

#include "nopal/config.h"
#include "nopal/deque/deque.h"
#include "nopal/deque/spin_lock.h"
#include "nopal/stack/marks.h"
#include "nopal/stack/stack.h"

#include <algorithm>

namespace nopal::inline NOPAL_ABI::deque {

// Marks: where marks are kept. Stacks: the bounds of a stack. RingCapacity: public offers at a
// time.
template <class Offer, class Marks = stack::marks, class Stacks = stack::bounds,
          std::uint32_t RingCapacity = 32>
class stack_map {
  static_assert(alignof(Offer) == 8);

public:
  // As constructed, every push fails: also the stand-in of threads that are no workers.
  constexpr stack_map() noexcept = default;

  void open(bool fenced) noexcept { limit_.open(fenced); }

  [[gnu::always_inline]] bool push(Offer* offer) noexcept {
    Marks::open(offer);
    base::light_barrier(); // L
    return limit_.allows_here();
  }

  // It is open already. Without the heavy barrier every pop must take the slow path.
  attention push_anyway(Offer* offer) noexcept {
    const attention why = attend();
    if (limit_.fenced())
      Marks::claim(address(offer));
    return why;
  }

  template <class Mine> [[gnu::always_inline]] static bool pop(Offer* offer, Mine) noexcept {
    return Marks::close(offer); // C
  }

  bool take_back(Offer* offer) noexcept {
    const locked guard{lock_};
    if (address(offer) < settled_)
      return true;
    std::uintptr_t before = 0;
    if (!ring_.take_back(offer, before))
      return false;
    settled_ = before;
    demand_.taken_back();
    if (demand_.is_least())
      limit_.stop_expecting();
    return true;
  }

  // For an offer made with publish_foreign: it was never private.
  bool take_back_foreign(Offer* offer) noexcept {
    const locked guard{lock_};
    return ring_.take_back(offer);
  }

  attention attend() noexcept { return limit_.attend(); }

  bool publish(Offer* newest, void* home) noexcept {
    const locked guard{lock_};
    home_ = home;
    const bool any = publish_oldest(address(newest));
    if (!any)
      ask(); // a thief was faster; whoever asked may sleep by now, and waits for the next offer
    else if (!demand_.is_least() && demand_.wants_more_than(ring_.count()))
      limit_.expect();
    return any;
  }

  void publish_foreign(Offer* offer, void* home) noexcept {
    const locked guard{lock_};
    home_ = home;
    offer->seal(0);
    ring_.push({offer, offer->frame(), home});
  }

  // All offers at or above `settled` are taken. `stack` may be none: nothing is to be offered then.
  // `home`: the computation of all that is offered from now on, also by a starved thief.
  void adopt(stack::stack_id stack, std::uintptr_t settled, void* home) noexcept {
    const locked guard{lock_};
    home_ = home;
    settled_ = settled;
    limit_.adopt(stack);
  }

  outcome steal(void* home, entry<Offer>& taken) noexcept { return ring_.steal(home, taken); }

  bool anything_public() const noexcept { return !ring_.empty(); }

  void ask() noexcept { limit_.ask(); }
  void ask_before_sleep() noexcept { limit_.ask(); }

  bool publish_for_owner(const void* home = nullptr) noexcept {
    std::uintptr_t lowest = 0;
    {
      const locked guard{lock_};
      if (limit_.fenced())
        return publish_oldest(bottom());
      if (!ring_.empty())
        return true;
      if (claiming_ || limit_.searched() || (home != nullptr && home != home_))
        return false;
      const bool asked = limit_.is_asked();
      // Without a barrier: what this misses, the sleeper's look (has_work) finds.
      Offer* oldest = oldest_private();
      if (oldest == nullptr && asked)
        limit_.note_search_in_vain();
      if (oldest == nullptr || !Marks::claim(address(oldest)))
        return false;
      claiming_ = true;
      demand_.starved();
      lowest = claim_more_below(address(oldest));
    }
    base::heavy_barrier(); // C
    const locked guard{lock_};
    claiming_ = false;
    for (Offer* oldest = nullptr; settled_ > lowest && demand_.wants_more_than(ring_.count()) &&
                                  (oldest = oldest_private()) != nullptr &&
                                  Marks::claimed(address(oldest));)
      publish_claimed(oldest);
    return !ring_.empty();
  }

  bool has_work(void* home) noexcept {
    const locked guard{lock_};
    if (ring_.holds(home))
      return true;
    if (oldest_private() == nullptr)
      return false;
    limit_.forget_search();
    return home == nullptr || home == home_;
  }

private:
  static std::uintptr_t address(const Offer* offer) noexcept {
    return reinterpret_cast<std::uintptr_t>(offer);
  }

  // Lock held, by the owner or, if fenced, by anybody: no pop gets past the lock meanwhile. What is
  // open does not lie below `from`.
  bool publish_oldest(std::uintptr_t from) noexcept {
    bool any = !ring_.empty(); // a thief may be faster than the return
    for (Offer* oldest = nullptr; demand_.wants_more_than(ring_.count()) &&
                                  (oldest = oldest_between(from, settled_)) != nullptr;) {
      Marks::claim(address(oldest));
      publish_claimed(oldest);
      any = true;
    }
    return any;
  }

  // Lock held; the ring is not full.
  void publish_claimed(Offer* oldest) noexcept {
    oldest->seal(settled_);
    ring_.push({oldest, oldest->frame(), home_}, settled_);
    settled_ = address(oldest);
  }

  // Lock held, by a starved thief: as many as are wanted, so that one barrier serves them all, but
  // none that is far to seek. Returns the lowest claimed.
  std::uintptr_t claim_more_below(std::uintptr_t claimed) noexcept {
    constexpr std::uintptr_t near = 4096;
    for (std::uint32_t count = 1; demand_.wants_more_than(count); ++count) {
      const std::uintptr_t from = claimed - std::min(claimed - bottom(), near);
      Offer* next = oldest_between(from, claimed);
      if (next == nullptr || !Marks::claim(address(next)))
        break;
      claimed = address(next);
    }
    return claimed;
  }

  std::uintptr_t bottom() const noexcept { return Stacks::bottom(limit_.stack()); }

  // Lock held. Offers at settled and above have left the private part; the highest below is the
  // oldest.
  Offer* oldest_private() const noexcept {
    return limit_.stack() == stack::no_stack ? nullptr : oldest_between(bottom(), settled_);
  }

  static Offer* oldest_between(std::uintptr_t from, std::uintptr_t to) noexcept {
    const std::uintptr_t found = Marks::highest(from, to);
    // The search goes down while the owner may push: what it finds may lie below an older offer
    // that was pushed behind it. That one was marked first (M), so a second search sees it.
    return reinterpret_cast<Offer*>(found == 0 ? 0 : Marks::highest(found, to));
  }

  // Read at every fork; written by whoever wants the owner's attention.
  alignas(64) limit<Stacks> limit_;

  // Slow paths, under the lock.
  alignas(64) spin_lock lock_;
  bool claiming_ = false; // a starved thief has claimed offers and not come back yet
  demand<RingCapacity> demand_;
  std::uintptr_t settled_ = 0;
  void* home_ = nullptr;

  alignas(64) public_ring<Offer, RingCapacity> ring_;
};

} // namespace nopal::inline NOPAL_ABI::deque
