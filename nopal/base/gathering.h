// SPDX-License-Identifier: MIT
// A list to which many threads add, and from which one takes all when they have added.
//
// Contract:  who takes is ordered behind all that add, by something else; so what they add is
//            complete.
// Orders: all relaxed, for that reason. An exchange of the head by another thread changes no node
//         that is in the list.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

// A Node has a member `handed_over<Node*> next`.
template <class Node> class gathering {
public:
  void add(Node* added) noexcept {
    Node* newest = newest_.load(relaxed);
    do
      added->next = newest;
    while (!newest_.compare_exchange_weak(newest, added, relaxed, relaxed));
  }
  // The newest, which names the next older one; null: there is none.
  Node* take() noexcept {
    Node* const newest = newest_.load(relaxed);
    if (newest != nullptr)
      newest_.store(nullptr, relaxed);
    return newest;
  }

private:
  atomic<Node*> newest_{nullptr};
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
