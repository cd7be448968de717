// SPDX-License-Identifier: MIT
//
// The work-stealing deque: what the scheduler asks of one.
//
// A fork offers the rest of its caller, the continuation, to thieves. The fork is open while its
// child runs and no thief has taken the continuation. The deque of a worker holds the open forks of
// the stack that the worker runs on, oldest first. It has two parts:
//
//   oldest                                                            newest
//   [ public: thieves take them, one CAS each | private: the owner's plain loads and stores ]
//                                             ^ split
//
// The fast path touches the private part alone, without a fence. Forks move from private to public,
// oldest first, in one of two ways:
//   asked    A thief lowers the limit (to its greatest value, so that every push sees it); the
//            owner's next push takes the slow path and publishes.
//   starved  The owner pushes nothing (a long serial strand). The thief claims the oldest fork,
//            which sends its pop into the slow path; passes the heavy barrier; and then, under the
//            deque's lock, publishes it in the owner's name, and more than one the more often
//            this happens (demand.h). README.md has the argument.
//
// Record, the type of an open fork, lies in the frame of the thunk that runs the child and is gone
// when the child returns. It provides:
//   frame()          what a thief resumes; valid as long as the fork is open
//   complete(above)  called once, before a fork becomes public; `above` is what adopt must be told
//                    when the frame, stolen, goes on with the stack it lies on
//
// The owner is the vproc that runs the worker. All others are thieves. A fork belongs to a group;
// the deque passes it on as an address and compares it.
#pragma once

#include "nopal/config.h"
#include "nopal/deque/demand.h"
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
  // Owner, after push said false for this record: the fork is open from now on, and the limit
  // restored. Says whether that had been lowered.
  { deque.push_anyway(record) } noexcept -> std::same_as<attention>;
  // Owner. Closes the newest fork; mine() is the deque, if that has to be looked at. True: no thief
  // has seen the fork. False: ask take_back.
  { D::pop(record, mine) } noexcept -> std::same_as<bool>;
  // Owner, after pop said false. True: the continuation is the owner's after all. False: a thief
  // runs it.
  { deque.take_back(record) } noexcept -> std::same_as<bool>;
  // Owner. Restores the limit; says whether it had been lowered.
  { deque.attend() } noexcept -> std::same_as<attention>;
  // Owner. Publishes the oldest private forks until as many are public as are wanted (demand.h);
  // true if any is. `record`: the newest.
  { deque.publish(record, group) } noexcept -> std::same_as<bool>;
  // Owner. Publishes the fork that began a group, whose thunk runs on another stack; the private
  // part is empty. And closes it, as take_back does.
  { deque.publish_root(record, group) } noexcept;
  { deque.take_back_root(record) } noexcept -> std::same_as<bool>;
  // Owner. Goes on with a stack whose forks at or above the second address are all taken, or with
  // none. All that is forked from now on is of this group.
  { deque.adopt(at, at, group) } noexcept;
  // Owner, of a strand that waits at this address. True: nothing is open, and the deque has no
  // stack now; the second one is what adopt must be told when the strand goes on.
  { deque.give_back(at, at) } noexcept -> std::same_as<bool>;
  // Thief. One attempt at the oldest public fork (of this group, if not null).
  { deque.steal(group, taken) } noexcept -> std::same_as<outcome>;
  // Any thread.
  { deque.anything_public() } noexcept -> std::same_as<bool>;
  // Thief. Has the owner publish at its next push.
  { deque.ask() } noexcept;
  // A thread that is about to sleep. Has the owner publish, or look for sleepers, at its next push.
  { deque.ask_before_sleep() } noexcept;
  // Thief, starved. Publishes in the owner's name (if it runs this group, or any if null); true if
  // something is public afterwards.
  { deque.publish_for_owner(group) } noexcept -> std::same_as<bool>;
  // Thief, while no vproc runs the worker, nor can begin to. Publishes as publish does.
  { deque.publish_for_absent_owner() } noexcept;
  // Thief, before it sleeps, after asking and the heavy barrier: is there anything to take?
  { deque.has_work(group) } noexcept -> std::same_as<bool>;
  // Before use. Fenced: no heavy barrier on this kernel, so every push and pop takes the slow path.
  { deque.open(fenced) } noexcept;
};

} // namespace nopal::inline NOPAL_ABI::deque
