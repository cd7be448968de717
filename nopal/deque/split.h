// SPDX-License-Identifier: MIT
//
// Deque variant `split`: an array of offers, oldest first, whose upper part is the owner's alone.
//
//   index:   0 ... settled-1   settled ... bottom-1   bottom ...
//            public or taken   private                free
//
// The owner pushes and pops at `bottom` with plain loads and stores and compares with `split` on a
// pop. Compared with `stack_map`, bottom is loaded and stored through memory at every fork.
//
// Invariant (under the lock, `split` restored):
//   offer i is private  <=>  split <= i < bottom;    split = settled
// The array starts afresh when the owner goes on with a stack; the offers of the thunks above are
// all taken, and popping one of those makes bottom -1, below every split.
//
// Ownership:
//   split            owner; a starved thief, which writes a token
//   settled_         lock holder
//   bottom_, slots_  owner
// Orders:
//   B  push, pop: bottom store release. Partner: the acquire load in `oldest_private`: the offers
//      below and their slots are complete.
//   L  as in stack_map.h, with bottom in the place of the mark.
//   C  pop: bottom lowered, light barrier, split load. Partner: token, then the heavy barrier.
//      Either the owner sees the token or the thief sees the lowered bottom.
// Paper: the private part is after wool's and lace's; the requests as in stack_map.h.
#pragma once

#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/deque/deque.h"
#include "nopal/deque/spin_lock.h"
#include "nopal/stack/stack.h"

namespace nopal::inline NOPAL_ABI::deque {

template <class Offer, class Stacks = stack::bounds, std::uint32_t RingCapacity = 32> class split {
public:
  static constexpr bool steals_under_lock = false;
  static constexpr bool offers_are_public = false;

  constexpr split() noexcept = default;

  void open(bool fenced) noexcept {
    limit_.open(fenced);
    const std::size_t capacity = Stacks::most_forks();
    slots_ = static_cast<base::atomic<Offer*>*>(base::map_zeroed(capacity * sizeof(Offer*)));
    NOPAL_ASSERT(slots_ != nullptr, "no memory for a deque of %zu entries", capacity);
    capacity_ = static_cast<std::int64_t>(capacity);
  }

  // The first look keeps threads that are no workers from an array that is not there.
  [[gnu::always_inline]] bool push(Offer* offer) noexcept {
    if (!limit_.allows(offer)) [[unlikely]]
      return false;
    put(offer);
    base::light_barrier(); // L
    return limit_.allows(offer);
  }

  attention push_anyway(Offer* offer) noexcept {
    const attention why = attend();
    const std::int64_t at = bottom_.load(base::relaxed);
    if (at > 0 && slots_[at - 1].load(base::relaxed) == offer)
      return why; // it was the second look that said no
    NOPAL_CHECK(at < capacity_);
    put(offer);
    return why;
  }

  [[gnu::always_inline]] bool pop(Offer*) noexcept {
    const std::int64_t at = bottom_.load(base::relaxed) - 1;
    bottom_.store(at, base::release); // B: who reads this may publish what lies below
    base::light_barrier();            // C
    return at >= split_.load(base::relaxed);
  }

  bool take_back(Offer* offer) noexcept {
    const locked guard{lock_};
    const bool starved = !limit_.fenced() && split_.load(base::relaxed) >= lowest_token;
    const std::int64_t at = bottom_.load(base::relaxed);
    bool ours = at >= settled_;
    if (!ours && ring_.take_back(offer)) {
      ours = true;
      settled_ = at;
      demand_.taken_back();
      if (demand_.is_least())
        limit_.stop_expecting();
    }
    if (starved) {
      demand_.starved();
      publish_oldest();
    }
    restore_split();
    return ours;
  }

  bool take_back_foreign(Offer* offer) noexcept {
    const locked guard{lock_};
    return ring_.take_back(offer);
  }

  attention attend() noexcept { return limit_.attend(); }

  bool publish(Offer*, void* home) noexcept {
    const locked guard{lock_};
    home_ = home;
    const bool any = publish_oldest();
    restore_split();
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

  // Every offer of the stack is taken: the array starts afresh.
  // `home`: the computation of all that is offered from now on, also by a starved thief.
  void adopt(stack::stack_id stack, std::uintptr_t, void* home) noexcept {
    const locked guard{lock_};
    home_ = home;
    settled_ = 0;
    bottom_.store(0, base::relaxed);
    restore_split();
    limit_.adopt(stack);
  }

  outcome steal(void* home, entry<Offer>& taken) noexcept { return ring_.steal(home, taken); }

  bool anything_public() const noexcept { return !ring_.empty(); }

  void ask() noexcept { limit_.ask(); }

  bool publish_for_owner(std::uint32_t token, const void* home = nullptr) noexcept {
    if (!looks_busy(home))
      return !ring_.empty();
    std::int64_t before = split_.load(base::relaxed);
    if (before < lowest_token && split_.compare_exchange_strong(before, lowest_token + token,
                                                                base::relaxed, base::relaxed)) {
      base::heavy_barrier(); // C
      const locked guard{lock_};
      if (split_.load(base::relaxed) == lowest_token + token) {
        demand_.starved();
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
  // At this value or above, every pop takes its slow path; no index is so high.
  static constexpr std::int64_t lowest_token = std::int64_t{1} << 62;

  [[gnu::always_inline]] void put(Offer* offer) noexcept {
    const std::int64_t at = bottom_.load(base::relaxed);
    slots_[at].store(offer, base::relaxed);
    bottom_.store(at + 1, base::release); // B
  }

  // Whether a barrier may find something. Without barriers, it is published at once.
  bool looks_busy(const void* home) noexcept {
    const locked guard{lock_};
    if (limit_.fenced()) {
      publish_oldest();
      return false;
    }
    return ring_.empty() && oldest_private() != nullptr && (home == nullptr || home == home_);
  }

  void restore_split() noexcept {
    split_.store(limit_.fenced() ? lowest_token : settled_, base::relaxed);
  }

  // Lock held. The caller restores `split`, and not before all is public: at a token, the owner's
  // pops wait meanwhile.
  bool publish_oldest() noexcept {
    bool any = !ring_.empty(); // a thief may be faster than the return
    for (Offer* oldest = nullptr;
         demand_.wants_more_than(ring_.count()) && (oldest = oldest_private()) != nullptr;) {
      oldest->seal(0);
      ring_.push({oldest, oldest->frame(), home_});
      settled_ += 1;
      any = true;
    }
    return any;
  }

  // Lock held.
  Offer* oldest_private() const noexcept {
    return settled_ < bottom_.load(base::acquire) ? slots_[settled_].load(base::relaxed) // B
                                                  : nullptr;
  }

  alignas(64) limit<Stacks> limit_;
  base::atomic<std::int64_t> split_{0};
  base::atomic<std::int64_t> bottom_{0};
  base::atomic<Offer*>* slots_ = nullptr;

  alignas(64) spin_lock lock_;
  demand<RingCapacity> demand_;
  std::int64_t settled_ = 0;
  std::int64_t capacity_ = 0;
  void* home_ = nullptr;

  alignas(64) public_ring<Offer, RingCapacity> ring_;
};

} // namespace nopal::inline NOPAL_ABI::deque
