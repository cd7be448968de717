// SPDX-License-Identifier: MIT
// The values that a fiber has of its own: a list, in which each value has its key.
//
// Contract:  a strand that finds a value sees it as its maker left it. A key has one value in a
//            list.
// Orders:
//   I  find_or_add: CAS release. Partner: the acquire loads of the list's head. Values are never
//      removed while the fiber exists, so a walk from any head is safe.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

class fiber_locals {
public:
  struct value {
    const void* key;
    void (*destroy)(value*) noexcept;
    base::handed_over<value*> next{nullptr};
  };

  fiber_locals() = default;
  fiber_locals(const fiber_locals&) = delete;
  fiber_locals& operator=(const fiber_locals&) = delete;
  ~fiber_locals() {
    for (value* at = first_.load(base::acquire); at != nullptr;) { // I
      value* const next = at->next;
      at->destroy(at);
      at = next;
    }
  }

  value* find(const void* key) const noexcept {
    return find_until(first_.load(base::acquire), nullptr, key); // I
  }

  // The value that another strand has added meanwhile, or else `added`.
  value* find_or_add(value* added) noexcept {
    value* searched = nullptr;
    value* head = first_.load(base::acquire); // I
    for (;;) {
      if (value* const found = find_until(head, searched, added->key))
        return found;
      searched = head;
      added->next = head;
      if (first_.compare_exchange_weak(head, added, base::release, base::acquire)) // I
        return added;
    }
  }

private:
  static value* find_until(value* from, const value* end, const void* key) noexcept {
    while (from != end && from->key != key)
      from = from->next;
    return from == end ? nullptr : from;
  }

  base::atomic<value*> first_{nullptr};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
