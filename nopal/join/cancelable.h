// SPDX-License-Identifier: MIT
// What can be cancelled: a node of the cancellation tree (nopal/cancel.h).
//
// Contract:  a node is cancelled, for ever, as soon as it or a node above it is marked. A thread
//            that finds a node marked (`cancelled` returns true, or `mark` false) sees what the
//            canceller did before it marked that node, and the reason that this canceller gave. The
//            nodes above must live as long.
// Ownership: any thread marks and asks.
// Orders:
//   M  mark: CAS acq_rel, or acquire if it fails. Partner: itself, and the acquire of `marked` and
//      `reason`. The order S of signal_word.h tells the strands in time.
// Paper: manticore-icfp08, section 6.1.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/join/descent.h"
#include "nopal/stack/view.h"

#include <exception>
#include <new>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

class cancelable {
public:
  explicit cancelable(const cancelable* above = nullptr) noexcept
      : above_{reinterpret_cast<std::uintptr_t>(above)} {}
  // A node directly below two others, which live as long as `both` does: as long as the node.
  struct two {
    const cancelable* first;
    const cancelable* second;
  };
  explicit cancelable(const two& both) noexcept
      : above_{reinterpret_cast<std::uintptr_t>(&both) | kTwo} {}
  cancelable(const cancelable&) = delete;
  cancelable& operator=(const cancelable&) = delete;
  ~cancelable() {
    if (below.placed()) [[unlikely]]
      below.remove();
    if (mark_.load(base::relaxed) > kWithoutReason) [[unlikely]]
      delete kept_reason();
  }

  // True: this call is the first. Without memory for its reason the node is marked without one.
  bool mark(std::exception_ptr reason = nullptr) noexcept {
    const std::exception_ptr* const kept = keep(std::move(reason));
    std::uintptr_t unmarked = 0;
    const std::uintptr_t word =
        kept == nullptr ? kWithoutReason : reinterpret_cast<std::uintptr_t>(kept);
    if (mark_.compare_exchange_strong(unmarked, word, base::acq_rel, base::acquire)) // M
      return true;
    delete kept;
    return false;
  }
  bool marked() const noexcept { return mark_.load(base::acquire) != 0; } // M
  bool cancelled() const noexcept {
    const cancelable* node = this;
    while (node != nullptr && !node->marked()) {
      if (const two* const both = node->both()) [[unlikely]]
        return both->first->cancelled() || both->second->cancelled();
      node = node->above();
    }
    return node != nullptr;
  }

  // The reason of the nearest node, from here upwards, that has one; null: none has.
  std::exception_ptr reason() const noexcept {
    const cancelable* node = this;
    while (node != nullptr && node->mark_.load(base::acquire) <= kWithoutReason) { // M
      if (const two* const both = node->both()) [[unlikely]] {
        const std::exception_ptr first = both->first->reason();
        return first != nullptr ? first : both->second->reason();
      }
      node = node->above();
    }
    return node != nullptr ? *node->kept_reason() : nullptr;
  }

  ancestor below; // what is found from here when it is cancelled
  // Of a region: an address on the stack of the first child that it has forked since its last join;
  // or 0. The main path writes it, cancellers read it. Relaxed: they look at a stack.
  base::atomic<std::uintptr_t> forked_at{0};
  // If that is an address of a view, it becomes this one, where all processes see the stack.
  void show_fork(std::uintptr_t seen_at) noexcept {
    if (stack::view::holds(forked_at.load(base::relaxed)))
      forked_at.store(seen_at, base::relaxed);
  }

private:
  static constexpr std::uintptr_t kWithoutReason = 1;
  static constexpr std::uintptr_t kTwo = 1;

  const two* both() const noexcept {
    return (above_ & kTwo) == 0 ? nullptr : reinterpret_cast<const two*>(above_ & ~kTwo);
  }
  const cancelable* above() const noexcept { return reinterpret_cast<const cancelable*>(above_); }

  // Null: there is none, or no memory for it.
  static const std::exception_ptr* keep(std::exception_ptr reason) noexcept try {
    return reason == nullptr ? nullptr : new std::exception_ptr{std::move(reason)};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  const std::exception_ptr* kept_reason() const noexcept {
    return reinterpret_cast<const std::exception_ptr*>(mark_.load(base::relaxed));
  }

  const std::uintptr_t above_;           // a node's address or 0; or that of a `two`, and kTwo
  base::atomic<std::uintptr_t> mark_{0}; // 0, kWithoutReason, or the address of the reason
};

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
