// SPDX-License-Identifier: MIT
// A group is the strands that an outermost fork, or an affine region, begins.
//
// A group belongs to the thread that began it and waits for it, but it is not that thread: its
// strands run on any vproc. Its root scope, the outermost one, is joined anywhere but resumes only
// on the waiting thread. That thread may run strands of the group meanwhile, and no others, since
// any other might keep it arbitrarily long.
//
//   running --finish--> finished --take_finished--> the waiting thread resumes the root scope
//
// Ownership: all but `parking` and `finished_` is written by the waiting thread before anything of
//            the group is public, and is constant until the group ends. Groups are used again and
//            never freed, so a late wake-up finds a parking place, and wakes a thread for nothing
//            at worst.
// Orders:
//   H  finish: store release. Partner: the acquire of take_finished. The waiting thread sees
//      what the strands of the root scope did. That this thread does not fall asleep and miss it is
//      the work of the fences F and W (parking.h): W lies in the wake that follows.
#pragma once

#include "nopal/base/count.h"
#include "nopal/config.h"
#include "nopal/join/join.h"
#include "nopal/sync/parking.h"
#include "nopal/vproc/vproc.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct action;
struct copy;
struct worker;

struct group {
  const join::scope_frame* root = nullptr;
  std::uintptr_t frame = 0; // the frame pointer of the function that declares the root scope
  group* parent = nullptr; // the group whose strand began it; null: a thread that ran no strand did
  vproc* host = nullptr;   // the waiting thread's
  // The state that the waiting thread had before, and takes up again when the group ends.
  worker* outer = nullptr;
  std::uint32_t begun_in = 0; // the process (base/child.h)
  bool outer_aside = false;   // `outer` was set aside for another copy (sched/copies.h)
  copy* outer_copy = nullptr; // the copy whose strand the thread ran; null: none
  role outer_role;            // the role of its vproc
  // A plain stack for the waiting thread's scheduler, where its strand ran on a view: what others
  // that it runs see there is something else. no_stack: the scheduler runs below the strand.
  stack::stack_id scheduler_stack = stack::no_stack;
  bool under_actions = false; // its vproc had actions
  int mutexes_held = 0;       // in check builds: so many did the thread hold
  // The waiting thread's when the group began. The group's strands compute with them, but for those
  // that have changed their own (nopal/floating_point.h).
  arch::control_words control;

  // Its strands run on the waiting thread and on vprocs that have joined it, and nowhere else
  // (arenas.h). The lock there guards the three numbers.
  bool closed = false;
  int places = 0;  // for vprocs that join
  int lent = 0;    // places of vprocs that block, sleep in a region within, or are stood in for
  int members = 0; // vprocs that have joined

  base::count masks; // guards against preemption, of its strands that are in no computation

  alignas(64) sync::parking_place parking; // where the waiting thread sleeps

  // Called by a vproc that completes the root scope's join and does not resume it itself. The
  // caller wakes the waiting thread next.
  void finish(join::scope_frame* scope) noexcept { finished_.store(scope, base::release); } // H
  // Called by the waiting thread: the root scope if it may go on, once; null: not yet.
  join::scope_frame* take_finished() noexcept {
    join::scope_frame* const scope = finished_.load(base::acquire); // H
    if (scope != nullptr)
      finished_.store(nullptr, base::relaxed);
    return scope;
  }
  bool is_finished() const noexcept { return finished_.load(base::relaxed) != nullptr; }

private:
  base::atomic<join::scope_frame*> finished_{nullptr};
};

// The name of a group in deques (deque/public_ring.h): its address, plus 1 if it is closed.
inline void* name_of(group* owner) noexcept {
  return owner == nullptr ? nullptr : reinterpret_cast<char*>(owner) + (owner->closed ? 1 : 0);
}
inline group* named(void* name) noexcept {
  return reinterpret_cast<group*>(reinterpret_cast<std::uintptr_t>(name) & ~std::uintptr_t{1});
}

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
