// SPDX-License-Identifier: MIT
// What is below a node of the cancellation tree: how a canceller finds the strands that wait there,
// without looking at any other.
//
// Ancestors are the nodes: regions, cancelables, and the scopes whose main path was stolen, since a
// child that fails stops what comes after it. Descendants are other nodes, stacks on which strands
// wait, and observers. Each is in the list of its nearest ancestor only, and only from the time
// when it is needed: a stack from the first wait on it to the end of its use (sched/ancestry.h). A
// strand above which is no node is in no list.
//
// Invariant: a descendant is placed below its nearest ancestor after that ancestor was placed. So
//            what is placed is found from all its ancestors.
// Ownership: the lock of the node above guards the links. A node ends after all below it have been
//            removed.
// Contract:  a thread that marks a node and then looks below it finds what was placed before; what
//            is placed after that sees the mark.
// Orders:
//   A  place: the store of above_, release. Partner: the acquire load in `placed`. A thread that
//      sees that a node was placed after a walk, and places an observer below it, sees the walk's
//      mark; a strand that waits passes a full fence before it looks. The contract is the locks'.
//      A walk takes a node's lock while it holds the one above; `place` and `remove` take one.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

class ancestor;

class descendant {
public:
  enum class kind : std::uint8_t { stack, node, observer };

  // A stack's lies in the owner's room, which is zero at first: that is an unplaced stack.
  explicit descendant(kind tag) noexcept : kind_{tag} {}
  descendant(const descendant&) = delete;
  descendant& operator=(const descendant&) = delete;

  kind tag() const noexcept { return kind_; }
  // Whether its place is known.
  bool placed() const noexcept { return above_.load(base::acquire) != nullptr; } // A
  // Null: nothing is above. All that place the same node at the same time name the same ancestor.
  inline void place(ancestor* above) noexcept;
  // Nobody else places it, or something below it, at the same time.
  inline void remove() noexcept;

private:
  friend class ancestor;

  base::handed_over<descendant*> next_{nullptr};
  base::handed_over<descendant*> before_{nullptr};
  base::atomic<ancestor*> above_{nullptr}; // null: not placed
  const kind kind_;
};

class ancestor : public descendant {
public:
  ancestor() noexcept : descendant{kind::node} {}

  // Calls `see` with each stack and observer below the node. `see` places and removes nothing.
  template <class See> void for_each_below(See see) noexcept {
    const base::locked guard{lock_};
    for (descendant* each = first_; each != nullptr; each = each->next_)
      if (each->kind_ == kind::node)
        static_cast<ancestor*>(each)->for_each_below(see);
      else
        see(each);
  }

private:
  friend class descendant;

  base::spin_lock lock_;
  base::handed_over<descendant*> first_{nullptr};
};

// Stands for the node above what has none. There is nothing at this address.
inline ancestor* nothing_above() noexcept {
  static char place;
  return reinterpret_cast<ancestor*>(&place);
}

void descendant::place(ancestor* above) noexcept {
  if (above == nullptr)
    return above_.store(nothing_above(), base::release); // A
  const base::locked guard{above->lock_};
  if (above_.load(base::relaxed) != nullptr) // another strand was faster
    return;
  next_ = static_cast<descendant*>(above->first_);
  before_ = nullptr;
  if (next_ != nullptr)
    next_->before_ = this;
  above->first_ = this;
  above_.store(above, base::release); // A
}

void descendant::remove() noexcept {
  ancestor* const above = above_.load(base::relaxed);
  if (above != nullptr && above != nothing_above()) {
    const base::locked guard{above->lock_};
    (before_ == nullptr ? above->first_ : before_->next_) = static_cast<descendant*>(next_);
    if (next_ != nullptr)
      next_->before_ = static_cast<descendant*>(before_);
  }
  above_.store(nullptr, base::relaxed);
}

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
