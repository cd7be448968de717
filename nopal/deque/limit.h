// SPDX-License-Identifier: MIT
// The limit of a deque: the word that every fork compares its address with. A thief lowers it
// (stores an address above all forks) to get the owner's attention without a fence in a fork.
//
// Invariant: the limit is the lowest address that a fork on the owner's stack may have, or one of
// four values above all addresses, with which no push has room:
//   asked          from `ask` to the owner's next `attend`; always on kernels without the heavy
//                  barrier (fenced), and for threads that run no strands
//   nothing_found  as asked; a thief has searched the owner's stack since, so others need not
//   expected       set by the owner, which wants to publish at its next push without being asked
//   no_stack       the owner uses no stack, or has not told the deque which (sched/park.cc); this
//                  counts as not lowered, since nobody has asked
//
// Ownership: the owner restores it, any thread lowers it; `asked` and `nothing_found` replace each
// other under the deque's lock. A thief's request carries no data, so its orders are relaxed; the
// order L of each deque keeps a request and a fork from missing each other. `interrupt` and
// `attend` are seq_cst: they are halves of the order S of sync/signal_word.h.
// Paper: after the heap-limit requests of manticore-icfp08.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/stack/bounds.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::deque {

enum class attention : std::uint8_t {
  none,     // the limit was not lowered: the stack is nearly full
  requested // a thief asked for work, or the owner expected to publish
};

template <class Stacks = stack::bounds> class limit {
public:
  // Before use.
  void open(bool fenced) noexcept { fenced_ = fenced; }
  bool fenced() const noexcept { return fenced_; }

  // Owner. Whether a fork with this record has room and nobody wants the owner's attention.
  [[gnu::always_inline]] bool allows(const void* record) const noexcept {
    return reinterpret_cast<std::uintptr_t>(record) >= value_.load(base::relaxed);
  }
  // The same for a record at the stack pointer.
  [[gnu::always_inline]] bool allows_here() const noexcept { return !arch::stack_below(value_); }

  static constexpr std::size_t value_at() noexcept { return offsetof(limit, value_); }

  // Any thread.
  void ask() noexcept {
    if (!is_request(value_.load(base::relaxed)))
      value_.store(asked, base::relaxed);
  }

  // Any thread, after it has written what it wants (sync/signal_word.h). Unlike `ask` it stores in
  // any case: the owner may be attending just now to the request that stands.
  void interrupt() noexcept { value_.store(asked, base::seq_cst); }

  // Deque's lock held, or the answer may be old. A search without the heavy barrier may have missed
  // a fork that was pushed before the request, but the request stands.
  bool is_asked() const noexcept { return value_.load(base::relaxed) == asked; }
  bool searched() const noexcept { return value_.load(base::relaxed) == nothing_found; }
  void note_search_in_vain() noexcept { replace(asked, nothing_found); }
  void forget_search() noexcept { replace(nothing_found, asked); }

  // Owner. Restores the limit. Returns whether it was lowered.
  attention attend() noexcept {
    return is_lowered(value_.exchange(normal(), base::seq_cst)) ? attention::requested
                                                                : attention::none;
  }

  // Owner. Lowers the limit for its own next push, or no longer does. A request stays.
  void expect() noexcept {
    if (!fenced_)
      replace(normal(), expected);
  }
  void stop_expecting() noexcept { replace(expected, normal()); }

  // Owner. Uses another stack, or none, from now on. A request stays.
  void adopt(stack::stack_id stack) noexcept {
    stack_ = stack;
    const std::uintptr_t value = value_.load(base::relaxed);
    if (!is_lowered(value))
      replace(value, stack == stack::no_stack ? no_stack : normal());
  }

  // Owner, or a thread that keeps the owner from calling adopt.
  stack::stack_id stack() const noexcept { return stack_; }

private:
  static constexpr std::uintptr_t asked = ~std::uintptr_t{0};
  static constexpr std::uintptr_t nothing_found = asked - 1;
  static constexpr std::uintptr_t expected = asked - 2;
  static constexpr std::uintptr_t no_stack = asked - 3;
  static bool is_request(std::uintptr_t value) noexcept { return value >= nothing_found; }
  static bool is_lowered(std::uintptr_t value) noexcept { return value >= expected; }

  std::uintptr_t normal() const noexcept { return fenced_ ? asked : Stacks::lowest_fork(stack_); }
  void replace(std::uintptr_t old, std::uintptr_t value) noexcept {
    value_.compare_exchange_strong(old, value, base::relaxed, base::relaxed);
  }

  base::atomic<std::uintptr_t> value_{asked};
  bool fenced_ = false;
  stack::stack_id stack_ = stack::no_stack;
};

} // namespace nopal::inline NOPAL_ABI::deque
NOPAL_HIDDEN_END
