// SPDX-License-Identifier: MIT
//
// The limit of a deque: what every fork compares its address with, and so how anybody gets the
// owner's attention without a fence on the fast path.
//
// Invariant: the limit is the lowest address of a fork on the owner's stack, or `asked`. `asked` it
// is from a request to the owner's next look (attend), always where no heavy barrier is to be had
// (fenced), and for threads that are no workers.
//
// Ownership: the owner restores it, anybody lowers it. A request carries nothing but itself, so all
// orders are relaxed; that request and offer do not miss each other is each deque's L.
// Paper: after the heap-limit requests of manticore-icfp08.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/atomic.h"
#include "nopal/stack/stack.h"

#include <cstdint>

namespace nopal::deque {

enum class attention : std::uint8_t {
  none,     // the limit was not lowered: the stack is nearly full, or this thread is no worker
  requested // somebody asked for work
};

// Stacks: the bounds of a stack.
template <class Stacks = stack::bounds> class limit {
public:
  constexpr limit() noexcept = default;

  // Before use.
  void open(bool fenced) noexcept { fenced_ = fenced; }
  bool fenced() const noexcept { return fenced_; }

  // Owner. Whether a fork whose offer lies there may take the fast path.
  [[gnu::always_inline]] bool allows(const void* offer) const noexcept {
    return reinterpret_cast<std::uintptr_t>(offer) >= value_.load(base::relaxed);
  }
  // The same for an offer at the stack pointer.
  [[gnu::always_inline]] bool allows_here() const noexcept { return !arch::stack_below(value_); }

  // Anybody.
  void ask() noexcept {
    if (value_.load(base::relaxed) != asked)
      value_.store(asked, base::relaxed);
  }

  // Owner. Restores the limit; says whether it had been lowered.
  attention attend() noexcept {
    const std::uintptr_t normal = fenced_ ? asked : Stacks::lowest_fork(stack_);
    return value_.exchange(normal, base::relaxed) == asked ? attention::requested : attention::none;
  }

  // Owner. Goes on with another stack, which may be none. A request stays.
  void adopt(stack::stack_id stack) noexcept {
    stack_ = stack;
    std::uintptr_t value = value_.load(base::relaxed);
    if (stack != stack::no_stack && !fenced_ && value != asked)
      value_.compare_exchange_strong(value, Stacks::lowest_fork(stack), base::relaxed,
                                     base::relaxed);
  }

  // Owner, or whoever keeps adopt away.
  stack::stack_id stack() const noexcept { return stack_; }

private:
  // Its greatest value, so that every push sees it.
  static constexpr std::uintptr_t asked = ~std::uintptr_t{0};

  base::atomic<std::uintptr_t> value_{asked};
  bool fenced_ = false;
  stack::stack_id stack_ = stack::no_stack;
};

} // namespace nopal::deque
