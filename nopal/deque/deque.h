// SPDX-License-Identifier: MIT
//
// The work-stealing deque: what every variant promises.
//
// A fork offers the rest of its caller to thieves. The deque of a worker holds the open offers of
// the stack that the worker runs on, oldest first. It has two parts:
//
//   oldest                                                            newest
//   [ public: thieves take them, one CAS each | private: the owner's plain loads and stores ]
//                                             ^ split
//
// The fast path touches the private part alone, without a fence. Offers move from private to
// public, oldest first, in one of two ways:
//   asked    A thief lowers `limit` (to its greatest value, so that every push sees it); the
//            owner's next push takes the slow path and publishes.
//   starved  The owner pushes nothing (a long serial strand). The thief claims the oldest offer,
//            which sends its pop into the slow path; passes the heavy barrier; and then, under the
//            deque's lock, publishes it in the owner's name, and more than one the more often
//            this happens (demand.h). README.md has the argument.
//
// Record, the type of what is offered, lives in the frame of the thunk that runs the child and is
// gone when the child returns. It provides:
//   frame()      what a thief resumes; valid as long as the offer is open
//   seal(above)  called once, before an offer becomes public; `above` is what adopt must be told
//                when the frame, stolen, goes on with the stack it lies on
//
// Owner means the worker that runs on the stack. All others are thieves.
#pragma once

#include "nopal/config.h"
#include "nopal/deque/demand.h"
#include "nopal/deque/limit.h"
#include "nopal/deque/public_ring.h"

#include <concepts>
#include <cstdint>

namespace nopal::inline NOPAL_ABI::deque {

template <class D, class Record>
concept work_deque =
    requires(D deque, Record* record, void* home, entry<Record>& taken, bool fenced,
             std::uintptr_t address, std::uintptr_t& above, D& (*mine)()) {
      // Owner. Opens an offer. False: somebody wants attention, or this is no worker, or the stack is
      // nearly full; whether the offer is open is not said.
      { deque.push(record) } noexcept -> std::same_as<bool>;
      // Owner, after push said false: the offer is open from now on, and the limit restored; says
      // whether that had been lowered. The same offer, since a starved thief may have published it
      // already.
      { deque.push_anyway(record) } noexcept -> std::same_as<attention>;
      // Owner. Closes the newest offer; mine() is the deque, if that has to be looked at. True: nobody
      // has seen the offer. False: ask take_back.
      { D::pop(record, mine) } noexcept -> std::same_as<bool>;
      // Owner, after pop said false. True: it is ours after all. False: a thief runs the continuation.
      { deque.take_back(record) } noexcept -> std::same_as<bool>;
      // Owner. Restores the limit; says whether it had been lowered.
      { deque.attend() } noexcept -> std::same_as<attention>;
      // Owner. Publishes the oldest private offers until as many are public as are wanted (demand.h);
      // true if any is. `offer`: the newest.
      { deque.publish(record, home) } noexcept -> std::same_as<bool>;
      // Owner. Publishes an offer whose thunk runs on a foreign stack; the private part is empty.
      { deque.publish_root(record, home) } noexcept;
      // Owner. Closes such an offer; as take_back.
      { deque.take_back_root(record) } noexcept -> std::same_as<bool>;
      // Owner. Goes on with a stack whose offers at or above `address` are all taken, or with none; all
      // that is offered from now on, also by a starved thief, is of computation `home`.
      { deque.adopt(address, address, home) } noexcept;
      // Owner, of a strand that waits at `address`. True: nothing is open, and the deque has no stack
      // now; adopt must be told what is returned in `above` when the strand goes on.
      { deque.give_back(address, above) } noexcept -> std::same_as<bool>;
      // Thief. One attempt at the oldest public offer (of computation `home`, if not null).
      { deque.steal(home, taken) } noexcept -> std::same_as<outcome>;
      // Anybody.
      { deque.anything_public() } noexcept -> std::same_as<bool>;
      // Thief. Has the owner publish at its next push.
      { deque.ask() } noexcept;
      // Somebody who is about to sleep. Has the owner publish, or look for sleepers, at its next push.
      { deque.ask_before_sleep() } noexcept;
      // Thief, starved. Publishes in the owner's name (offers of computation `home`, if not null); true
      // if something is public afterwards.
      { deque.publish_for_owner(home) } noexcept -> std::same_as<bool>;
      // Thief, while nobody runs the strand whose forks these are, nor can begin to. Publishes as
      // publish does.
      { deque.publish_for_absent_owner() } noexcept;
      // Thief, before it sleeps, after asking and the heavy barrier: is there anything to take?
      { deque.has_work(home) } noexcept -> std::same_as<bool>;
      // Before use. Fenced: no heavy barrier on this kernel, so every push and pop takes the slow path.
      { deque.open(fenced) } noexcept;
    };

} // namespace nopal::inline NOPAL_ABI::deque
