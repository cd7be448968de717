// SPDX-License-Identifier: MIT
// A node of the tree of cancelables, and the fibers that are its members (nopal/cancelable.h).
//
// A fiber is a member of one node, and counts at all nodes above that one. It becomes a member
// before it begins, and stays one; fibers that it spawns are members of the same node. A member's
// context (computation.h) names its node, where the walk of sched/ancestry.h finds it.
//
// Paper: manticore-icfp08, section 6.1.
#pragma once

#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/cancelable.h"
#include "nopal/sync/members.h"
#include "nopal/vproc/fiber.h"

#include <exception>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

class cancel_node : public join::cancelable {
public:
  explicit cancel_node(cancel_node* parent) noexcept
      : join::cancelable{parent}, parent_{parent},
        members_{parent != nullptr ? &parent->members_ : nullptr} {}

  bool is_or_is_below(const cancel_node* other) const noexcept {
    const cancel_node* node = this;
    while (node != nullptr && node != other)
      node = node->parent_;
    return node != nullptr;
  }

  cancel_node* parent() const noexcept { return parent_; }

  void begin_member() noexcept { members_.begin_one(); }
  // If this was the last member, returns the list of the fibers that wait for that (next_waiting).
  // The caller makes them ready; the node may be gone once it has.
  fiber* end_member() noexcept {
    for (cancel_node* node = this; node != nullptr; node = node->parent_)
      base::happens_before(&node->members_);
    return members_.end_one();
  }
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

  // Takes the exception of a member, before that ends; null: the node above has it, or else `run`.
  void (*keeps_failure)(cancel_node*, std::exception_ptr) noexcept = nullptr;

private:
  cancel_node* const parent_;
  sync::members<fiber> members_;
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
