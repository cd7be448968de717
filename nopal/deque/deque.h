// SPDX-License-Identifier: MIT
// The work-stealing deque: what the scheduler asks of one.
//
// A fork is open while its child runs and no thief has taken its continuation, the rest of the
// caller. The deque of a worker holds the open forks of the stack that the worker runs on, oldest
// first. It has two parts:
//
//   oldest                                                            newest
//   [ public: thieves take them, one CAS each | private: the owner's plain loads and stores ]
//                                             ^ split
//
// The fast path touches the private part alone, without a fence. Forks move from private to public,
// oldest first, in one of two ways (README.md has the protocol and the argument):
//   asked    A thief lowers the limit. The owner's next push takes the slow path and publishes.
//   starved  The owner pushes nothing, in a long serial strand. The thief claims the oldest forks,
//            which sends their pops into the slow path, passes the heavy barrier, and then, under
//            the deque's lock, publishes the forks in the owner's name.
//
// A Record, the type of an open fork, lies in the frame of the thunk that runs the child and is
// gone when the child returns. It provides:
//   frame()          what a thief resumes; valid as long as the fork is open
//   complete(split)  called once, before the fork becomes public; `split` is what adopt must be
//                    told when the frame, stolen, is resumed on the stack it lies on
//
// The owner is the vproc that runs the worker. All others are thieves. A fork belongs to a group,
// which is an address to the deque.
#pragma once

#include "nopal/config.h"
#include "nopal/deque/limit.h"
#include "nopal/deque/public_ring.h"

#include <concepts>
#include <cstdint>

namespace nopal::inline NOPAL_ABI::deque {

template <class D, class Record>
concept work_deque = requires(D deque, Record* record, void* group, entry<Record>& taken,
                              bool fenced, std::uintptr_t at, D& (*mine)()) {
  // Owner. Opens a fork. False: a thief wants attention, or this thread runs no strands, or the
  // stack is nearly full; whether the fork is open is not said.
  { deque.push(record) } noexcept -> std::same_as<bool>;
  // Owner, after push returned false for this record: restores the limit; the fork is open
  // afterwards. Says whether the limit had been lowered.
  { deque.push_anyway(record) } noexcept -> std::same_as<attention>;
  // Owner. Closes the newest fork; mine() is the deque. True: no thief has claimed the fork.
  // False: take_back decides.
  { D::pop(record, mine) } noexcept -> std::same_as<bool>;
  // Owner, after pop returned false. True: the continuation is the owner's after all. False: a
  // thief runs it.
  { deque.take_back(record) } noexcept -> std::same_as<bool>;
  // Owner. Restores the limit; says whether it had been lowered.
  { deque.attend() } noexcept -> std::same_as<attention>;
  // Owner. Publishes the oldest private forks until as many are public as are wanted; true if any
  // is public. `record` is the newest fork.
  { deque.publish(record, group) } noexcept -> std::same_as<bool>;
  // Owner. Publishes the fork that began a group, whose thunk runs on another stack, while the
  // private part is empty. take_back_root does for that fork what take_back does for others.
  { deque.publish_root(record, group) } noexcept;
  { deque.take_back_root(record) } noexcept -> std::same_as<bool>;
  // Owner. Uses a stack whose forks at or above the second address are all taken, or no stack. All
  // that is forked from now on belongs to this group.
  { deque.adopt(at, at, group) } noexcept;
  // Owner, for a strand that waits at this address. True: nothing is open, and the deque has no
  // stack now; the second address is what adopt must be told when the strand is resumed.
  { deque.give_back(at, at) } noexcept -> std::same_as<bool>;
  // Thief. One attempt at the oldest public fork (of this group, if not null).
  { deque.steal(group, taken) } noexcept -> std::same_as<outcome>;
  // Any thread.
  { deque.anything_public() } noexcept -> std::same_as<bool>;
  // Thief. Has the owner publish at its next push.
  { deque.ask() } noexcept;
  // A thread that is about to sleep. Has the owner publish, or look for sleepers, at its next push.
  { deque.ask_before_sleep() } noexcept;
  // Thief, starved. Publishes in the owner's name if the owner runs this group (any, if null); true
  // if something is public afterwards.
  { deque.publish_for_owner(group) } noexcept -> std::same_as<bool>;
  // Thief, while no vproc runs the worker or can begin to. Publishes as publish does.
  { deque.publish_for_absent_owner() } noexcept;
  // Thief, before it sleeps, after asking and the heavy barrier: is there anything to take?
  { deque.has_work(group) } noexcept -> std::same_as<bool>;
  // Before use. Fenced: no heavy barrier on this kernel, so every push and pop takes the slow path.
  { deque.open(fenced) } noexcept;
};

} // namespace nopal::inline NOPAL_ABI::deque
