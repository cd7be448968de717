// SPDX-License-Identifier: MIT
// A node of the tree of cancelables, and the fibers that are its members (nopal/cancelable.h).
//
// A fiber is a member of one node, which may be a joint, and counts at all nodes above that one. It
// becomes a member before it begins, and stays one; fibers that it spawns are members of the same
// node. A member's context (computation.h) names its node, where the walk of sched/ancestry.h finds
// it.
//
// Paper: manticore-icfp08, section 6.1.
#pragma once

#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/cancelable.h"
#include "nopal/sync/members.h"
#include "nopal/vproc/fiber.h"

#include <cstddef>
#include <exception>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

class joint;

class cancel_node : public join::cancelable {
public:
  explicit inline cancel_node(cancel_node* parent) noexcept;
  inline ~cancel_node();
  cancel_node(const cancel_node&) = delete;
  cancel_node& operator=(const cancel_node&) = delete;

  // Null of a joint: two are above that one.
  cancel_node* parent() const noexcept { return parent_; }
  // The nearest node, from here upwards, for which `wanted` is true; null: it is for none. Above a
  // joint its first parent comes before its second.
  template <class Wanted> inline cancel_node* nearest(Wanted wanted) noexcept;
  bool is_or_is_below(const cancel_node* other) noexcept {
    return nearest([other](const cancel_node* node) { return node == other; }) != nullptr;
  }
  bool is_joint() const noexcept;

  inline void begin_member() noexcept;
  // Calls `ready`, where this was the last member of a node, with a list of the fibers that wait
  // for that (next_waiting); or with null. It makes them ready. The node may be gone once it has.
  template <class Ready> inline void end_member(Ready ready) noexcept;
  bool has_members() noexcept { return members_.any(); }
  // False: the node has no member, and the fiber need not wait.
  bool join_members(fiber* waiting) noexcept { return members_.join(waiting); }
  void leave_members(fiber* waiting) noexcept { members_.leave(waiting); }
  // Called after the last member has ended: the calling strand sees what all members did.
  void note_members_ended() noexcept { base::happens_after(&members_); }

  // What tells those who have its token that it is cancelled; null: nobody has one. The program's
  // owner of the node writes it (release), its strands read it (acquire).
  struct teller {
    void (*const tells)(const teller*) noexcept;
  };
  base::atomic<const teller*> seen_by{nullptr};

  // Called before a cancelled member ends: who has waited for that finds the tokens told.
  void tell_tokens() noexcept {
    nearest([](const cancel_node* node) {
      if (const teller* const seen = node->seen_by.load(base::acquire))
        seen->tells(seen);
      return false; // all are told
    });
  }

  // Takes the exception of a member, before that ends; null: the node above has it, or else `run`.
  void (*keeps_failure)(cancel_node*, std::exception_ptr) noexcept = nullptr;

private:
  friend class joint;
  explicit inline cancel_node(const two& both) noexcept; // a joint's

  cancel_node* const parent_;
  joint* const nearest_joint_; // from here upwards; null: there is none
  sync::members<fiber> members_;
};

// The node of fibers that belong to two nodes of which neither is below the other: a fiber of one
// was given the other. Such a fiber stops when either is cancelled, and counts at both.
//
// Members of nodes above a joint are counted there one by one, beside each other: a thread that is
// told that one node has no members may destroy that one, and leaves the other alone.
// Ownership: it lies on the heap. Its members hold it, and the nodes below it.
// Orders:    release is acq_rel: who destroys it is behind the last use of all others.
class joint : public cancel_node {
public:
  // The caller begins the first member.
  joint(cancel_node* first, cancel_node* second) noexcept
      : cancel_node{both_}, both_{first, second}, first_{first}, second_{second} {}

  cancel_node* first() const noexcept { return first_; }
  cancel_node* second() const noexcept { return second_; }
  void hold() noexcept { holders_.fetch_add(1, base::relaxed); }
  void release() noexcept {
    if (holders_.fetch_sub(1, base::acq_rel) == 1)
      delete this;
  }

private:
  const two both_;
  cancel_node* const first_;
  cancel_node* const second_;
  base::atomic<std::size_t> holders_{0};
};

cancel_node::cancel_node(cancel_node* parent) noexcept
    : join::cancelable{parent}, parent_{parent},
      nearest_joint_{parent != nullptr ? parent->nearest_joint_ : nullptr},
      members_{parent != nullptr ? &parent->members_ : nullptr} {
  if (nearest_joint_ != nullptr) [[unlikely]]
    nearest_joint_->hold();
}

cancel_node::cancel_node(const two& both) noexcept
    : join::cancelable{both}, parent_{nullptr}, nearest_joint_{static_cast<joint*>(this)},
      members_{nullptr} {}

cancel_node::~cancel_node() {
  if (nearest_joint_ == nullptr || is_joint()) [[likely]]
    return;
  below.remove(); // it may be in the joint's list
  nearest_joint_->release();
}

inline bool cancel_node::is_joint() const noexcept { return nearest_joint_ == this; }

template <class Wanted> cancel_node* cancel_node::nearest(Wanted wanted) noexcept {
  for (cancel_node* node = this; node != nullptr; node = node->parent_) {
    if (wanted(node))
      return node;
    if (node->is_joint()) [[unlikely]] {
      cancel_node* const found = node->nearest_joint_->first()->nearest(wanted);
      return found != nullptr ? found : node->nearest_joint_->second()->nearest(wanted);
    }
  }
  return nullptr;
}

void cancel_node::begin_member() noexcept {
  members_.begin_one();
  if (nearest_joint_ == nullptr) [[likely]]
    return;
  nearest_joint_->hold();
  nearest_joint_->first()->begin_member();
  nearest_joint_->second()->begin_member();
}

template <class Ready> void cancel_node::end_member(Ready ready) noexcept {
  joint* const outer = nearest_joint_; // before this node may be gone
  for (cancel_node* node = this; node != nullptr; node = node->parent_)
    base::happens_before(&node->members_);
  ready(members_.end_one());
  if (outer == nullptr) [[likely]]
    return;
  outer->first()->end_member(ready);
  outer->second()->end_member(ready);
  outer->release();
}

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
