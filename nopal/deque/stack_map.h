// SPDX-License-Identifier: MIT
// The deque: the stack itself is the owner's part of it.
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
// oldest first. The owner publishes them at its next push after a thief has asked, or a thief that
// starves does so in the owner's name (README.md has the protocol and the argument).
//
// Open forks are nested as frames are, so the stack itself is their list, which is searched when a
// thief asks. An open fork's record lies in the frame of the thunk that runs the child, on the
// stack that the worker uses, and begins with a mark (stack/marks.h). It is gone when the child
// returns. No index is loaded and stored, so forks do not wait for one another through memory. A
// Record provides:
//   complete(split, stack)  called once, before the fork becomes public, with the deque's stack
//                           (no_stack, the default: the caller is the owner, and it is another).
//                           Returns what a thief resumes. `split` must be given to adopt if that is
//                           stolen and later resumed on the stack on which it lies
//
// The owner is the vproc that runs the worker. All others are thieves. A fork belongs to a group,
// of which the deque knows only the address.
//
// Invariant (under the lock):
//   an open fork f of this stack is private  <=>  address(f's record) < split
//   (the others are public or taken, and claimed: their pops take the slow path)
//
// Ownership:
//   limit's stack  owner under the lock
//   marks          owner; a lock holder claims some
//   error          owner; a lock holder reads it
//   the rest       lock holder
// Orders:
//   L  push: mark set, light barrier, limit load. Partner: `ask`, then the heavy barrier. Either
//      the owner sees the request or the thief sees the mark (README.md, "Asked").
//   C  pop: one instruction reads and changes the mark. Partner: the claim, then the heavy barrier.
//      Either the owner sees the claim or the thief sees the changed mark (README.md, "Starved").
// Paper: ours; the movable split is after manticore-icfp08's heap-limit requests.
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/deque/error_place.h"
#include "nopal/deque/limit.h"
#include "nopal/deque/public_ring.h"
#include "nopal/stack/bounds.h"
#include "nopal/stack/marks.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::deque {

// Marks: where marks are kept. Stacks: the bounds of a stack. RingCapacity: public forks at a time.
template <class Record, class Marks = stack::marks, class Stacks = stack::bounds,
          std::uint32_t RingCapacity = 32>
class stack_map {
  static_assert(alignof(Record) == 8);

public:
  // While the deque has no stack each push returns false. So `adopt` may come after the first push.
  static constexpr bool adopts_late = true;
  error_place error;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  // Where the word lies that a push compares with the stack pointer: forks in C read it.
  static constexpr std::size_t limit_at() noexcept {
    return offsetof(stack_map, limit_) + limit<Stacks>::value_at();
  }
#pragma GCC diagnostic pop

  // Before use. The limit begins as asked: the first push returns false, as all do where no strands
  // run. Fenced: no heavy barrier on this kernel, so every push and pop takes the slow path.
  void open(bool fenced) noexcept { limit_.open(fenced); }

  // Owner. Opens a fork. False: a thief wants attention, or this thread runs no strands, or the
  // stack is nearly full; the caller goes on with push_anyway (README.md, "One fork, one record").
  [[gnu::always_inline]] bool push(Record* record) noexcept {
    Marks::open(record);
    base::light_barrier(); // L
    return limit_.allows_here();
  }

  // Owner, after push returned false for this record. Restores the limit, and returns whether it
  // was lowered. The fork is open afterwards.
  attention push_anyway(Record* record) noexcept {
    const attention why = attend(); // the push has opened the fork
    if (limit_.fenced())
      Marks::claim(address(record));
    return why;
  }

  // Owner. Closes the newest fork. True: no thief has claimed it. False: take_back decides.
  // Baselines find their deque by the second argument, a function; this deque does not need to.
  template <class Mine> [[gnu::always_inline]] static bool pop(Record* record, Mine) noexcept {
    return Marks::close(record); // C
  }

  // Owner, after pop returned false. True: the continuation is the owner's after all. False: a
  // thief runs it.
  bool take_back(Record* record) noexcept {
    const base::locked guard{lock_};
    if (address(record) < split_)
      return true;
    if (!ring_.withdraw(record, split_))
      return false;
    if (wanted_ > 1 && --wanted_ == 1)
      limit_.stop_expecting();
    return true;
  }

  // Owner. Closes a fork of publish_root, which was never private. Returns what take_back would.
  bool take_back_root(Record* record) noexcept {
    const base::locked guard{lock_};
    return ring_.withdraw(record, split_);
  }

  attention attend() noexcept { return limit_.attend(); }

  // Owner. Publishes the oldest private forks, as many as are wanted. True: a fork is public.
  bool publish(Record* newest, void* group) noexcept {
    const base::locked guard{lock_};
    group_ = group;
    const bool any = publish_oldest(address(newest), Marks::highest); // no push comes meanwhile
    if (!any)
      ask(); // the forks are taken; the thief that asked may sleep by now, so the request stays
    else if (wanted_ > 1 && ring_.count() < wanted_)
      limit_.expect();
    return any;
  }

  // Owner. Publishes the fork that began a group, whose thunk runs on another stack, while the
  // private part is empty.
  void publish_root(Record* record, void* group) noexcept {
    const base::locked guard{lock_};
    group_ = group;
    ring_.push({record, record->complete(0), group, error.read()}, split_);
  }

  // Owner. Uses another stack, or none, from now on. On it all open forks at or above the split are
  // taken. New forks belong to this group.
  void adopt(stack::stack_id stack, std::uintptr_t split, void* group) noexcept {
    const base::locked guard{lock_};
    group_ = group;
    split_ = split;
    limit_.adopt(stack);
  }

  // Owner, of a continuation that is stolen again and again. Publishes unasked at its next pushes,
  // until a few forks were taken back (README.md, "How many forks are wanted").
  void expect_thief() noexcept {
    const base::locked guard{lock_};
    wanted_ = wanted_ < few ? few : wanted_;
    limit_.expect();
  }

  // Owner, for a strand that waits with its stack pointer at `from`. True: it has no open fork, and
  // the deque has no stack now; `split` must be given to adopt when the strand is resumed.
  bool give_back(std::uintptr_t from, std::uintptr_t& split) noexcept {
    const base::locked guard{lock_};
    if (!ring_.empty() || oldest_between(from, split_) != nullptr)
      return false;
    split = split_;
    group_ = nullptr;
    split_ = 0;
    limit_.adopt(stack::no_stack);
    return true;
  }

  // Thief. One attempt at the oldest public fork (of this group, if not null).
  outcome steal(void* group, entry<Record>& taken) noexcept { return ring_.steal(group, taken); }

  // Any thread. A hint that it calls `steal` next.
  void expect_steal() const noexcept { ring_.will_change(); }

  // Any thread.
  bool anything_public() const noexcept { return !ring_.empty(); }

  // Thief. Has the owner publish at its next push.
  void ask() noexcept { limit_.ask(); }
  // Any thread. The owner's next push, and its next allows_here, return false (sync/signal_word.h).
  void interrupt() noexcept { limit_.interrupt(); }
  // Owner. True: nobody wants its attention. Always false on a thread that runs no strands.
  [[gnu::always_inline]] bool allows_here() const noexcept { return limit_.allows_here(); }
  // A thread that is about to sleep. Has the owner publish, or look for sleepers, at its next push.
  void ask_before_sleep() noexcept { limit_.ask(); }

  // Thief, starved. Publishes in the owner's name if the owner runs this group (null: any). True: a
  // fork is public.
  bool publish_for_owner(const void* group = nullptr) noexcept {
    // Read without the lock, so that idle thieves that pass by share the cache line.
    if (limit_.searched() && ring_.empty())
      return false;
    std::uintptr_t lowest = 0;
    {
      const base::locked guard{lock_};
      if (!ring_.empty())
        return true;
      if (claiming_ || limit_.searched() || !may_take(group, group_))
        return false;
      if (limit_.fenced())
        return publish_oldest(bottom(), highest_while_owner_pushes);
      const bool asked = limit_.is_asked();
      // Without a barrier this may miss a fork; the look before sleep (has_work) finds it.
      Record* oldest = oldest_private();
      if (oldest == nullptr && asked)
        limit_.note_search_in_vain();
      if (oldest == nullptr || !Marks::claim(address(oldest), offset()))
        return false;
      claiming_ = true;
      wanted_ = 2 * wanted_ < RingCapacity ? 2 * wanted_ : RingCapacity;
      lowest = claim_more_below(address(oldest));
    }
    base::heavy_barrier(); // C
    const base::locked guard{lock_};
    claiming_ = false;
    for (Record* oldest = nullptr; split_ > lowest && ring_.count() < wanted_ &&
                                   (oldest = oldest_private()) != nullptr &&
                                   Marks::claimed(address(oldest), offset());)
      publish_claimed(oldest);
    return !ring_.empty();
  }

  // Any thread. Calls `see` under the lock with whether this open fork, which lies on the stack
  // that the deque uses, is private. Returns what `see` returns.
  template <class See> auto look_at(const Record* fork, See see) noexcept {
    const base::locked guard{lock_};
    return see(address(fork) < split_);
  }

  // Thief, while no vproc runs the worker or can begin to. Publishes as publish does.
  void publish_for_absent_owner() noexcept {
    const base::locked guard{lock_};
    if (limit_.stack() != stack::no_stack)
      publish_oldest(bottom(), highest_while_owner_pushes);
  }

  // Thief, before it sleeps, after ask_before_sleep and the heavy barrier. Whether there is a fork
  // of this group (null: any) to take.
  bool has_work(void* group) noexcept {
    const base::locked guard{lock_};
    if (ring_.holds(group))
      return true;
    if (oldest_private() == nullptr)
      return false;
    limit_.forget_search();
    return may_take(group, group_);
  }

private:
  static constexpr std::uint32_t few = RingCapacity < 4 ? RingCapacity : 4;

  static std::uintptr_t address(const Record* record) noexcept {
    return reinterpret_cast<std::uintptr_t>(record);
  }

  // Lock held. No pop gets past the lock meanwhile: the caller is the owner, or the deque is
  // fenced, or no vproc runs the worker. No open fork lies below `from`.
  template <class Search> bool publish_oldest(std::uintptr_t from, Search highest) noexcept {
    bool any = !ring_.empty(); // now: a thief may empty the ring before the return
    for (std::uintptr_t oldest = 0;
         ring_.count() < wanted_ && (oldest = highest(from, split_, offset())) != 0;) {
      Marks::claim(oldest, offset());
      publish_claimed(reinterpret_cast<Record*>(oldest));
      any = true;
    }
    return any;
  }

  // Lock held; the ring is not full.
  void publish_claimed(Record* oldest) noexcept {
    Record* const seen = reinterpret_cast<Record*>(address(oldest) + offset());
    ring_.push({oldest, seen->complete(split_, limit_.stack()), group_, error.read()}, split_);
    split_ = address(oldest);
  }

  // Lock held, by a starved thief. Claims as many forks as are wanted, so that one barrier serves
  // them all, but searches only near the last one. Returns the lowest claimed.
  std::uintptr_t claim_more_below(std::uintptr_t claimed) noexcept {
    constexpr std::uintptr_t near = 4096;
    for (std::uint32_t count = 1; count < wanted_; ++count) {
      const std::uintptr_t above = claimed - bottom();
      const std::uintptr_t from = claimed - (above < near ? above : near);
      Record* next = oldest_between(from, claimed);
      if (next == nullptr || !Marks::claim(address(next), offset()))
        break;
      claimed = address(next);
    }
    return claimed;
  }

  std::uintptr_t bottom() const noexcept { return Stacks::bottom(limit_.stack()); }
  std::uintptr_t offset() const noexcept { return Stacks::offset(limit_.stack()); }

  // Lock held. Of the forks below the split the highest is the oldest.
  Record* oldest_private() const noexcept {
    return limit_.stack() == stack::no_stack ? nullptr : oldest_between(bottom(), split_);
  }

  Record* oldest_between(std::uintptr_t from, std::uintptr_t to) const noexcept {
    return reinterpret_cast<Record*>(highest_while_owner_pushes(from, to, offset()));
  }

  // The search may pass a place before a fork is opened there, and find a newer fork below. The
  // older fork was marked first, so a second search finds it.
  static std::uintptr_t highest_while_owner_pushes(std::uintptr_t from, std::uintptr_t to,
                                                   std::uintptr_t offset) noexcept {
    const std::uintptr_t found = Marks::highest(from, to, offset);
    return found == 0 ? 0 : Marks::highest(found, to, offset);
  }

  // Read at every fork; written by threads that want the owner's attention.
  alignas(64) limit<Stacks> limit_;

  // Slow paths, under the lock.
  alignas(64) base::spin_lock lock_;
  bool claiming_ = false;    // a starved thief has claimed forks and not come back yet
  std::uint32_t wanted_ = 1; // public forks at a time; if 1, the owner waits to be asked
  std::uintptr_t split_ = 0;
  void* group_ = nullptr;

  alignas(64) public_ring<Record, RingCapacity> ring_;
};

} // namespace nopal::inline NOPAL_ABI::deque
NOPAL_HIDDEN_END
