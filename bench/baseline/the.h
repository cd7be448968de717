// SPDX-License-Identifier: MIT
// Deque variant `the`: Cilk-5's protocol (tail, head, exception) with its lock, as Fibril uses it.
//
//   index:   0 ... head-1   head ... tail-1   tail ...
//            taken          open, public      free
//
// Every fork is public at once. The owner pushes and pops at `tail` without the lock; thieves take
// at `head` under the lock, one at a time. A pop lowers `tail`, a thief raises `head`, each passes
// a full fence and then looks at the other's index: of two that want the last fork at least one
// sees the conflict. The thief then steps back; the owner looks again under the lock.
//
// Invariant (under the lock, no pop under way):
//   fork i is open  <=>  head <= i < tail
// The indices start at 0 again when the owner finds its fork taken, or adopts a stack: nothing is
// open then.
//
// Ownership:
//   tail_    owner
//   head_    lock holder
//   slots_   owner; thieves read below tail, under the lock
//   group_   owner, under the lock
// Orders:
//   P  push: tail store release. Partner: the thief's tail load, acquire: slot and frame are
//      complete.
//   C  pop: tail lowered, full fence, head load. Partner: head raised, full fence, tail load.
//      Either the owner sees the raised head or the thief sees the lowered tail.
//   S  step back: head store release. Partner: the pop's head load, acquire: a thief that has
//      looked at the frame without taking it does not look any more.
//   L  as in stack_map.h: tail stored, light barrier, limit load.
// Progress: a thief waits for the lock, and so does a pop that meets a thief.
// Paper: fibril-spaa16, section 4.2, which takes it from Cilk-5 (PLDI'98, section 5).
#pragma once

#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/deque/error_place.h"
#include "nopal/deque/limit.h"
#include "nopal/deque/public_ring.h"
#include "nopal/stack/stack.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::deque {

struct room : stack::bounds {
  // The number of open forks for which a stack has room: each takes a scope, a fork record and two
  // return addresses at least.
  static std::size_t most_forks() noexcept { return stack::size() / 128; }
};

template <class Record, class Stacks = room> class the {
  using frame = typename Record::frame_type;

public:
  static constexpr bool adopts_late = false; // a push opens the fork before it looks at the limit

  error_place error;

  // Record::taken is called for each steal under the lock, before another thief, or a pop that
  // finds its fork taken, can get the lock.
  static constexpr bool steals_under_lock = true;

  constexpr the() noexcept = default;

  void open(bool fenced) noexcept {
    limit_.open(fenced);
    const std::size_t capacity = Stacks::most_forks();
    slots_ = static_cast<base::atomic<frame*>*>(base::map_zeroed(capacity * sizeof(frame*)));
    NOPAL_ASSERT(slots_ != nullptr, "no memory for a deque of %zu entries", capacity);
    capacity_ = static_cast<std::int64_t>(capacity);
  }

  // A thread that runs no strands has no array; the first look at the limit stops it.
  [[gnu::always_inline]] bool push(Record* record) noexcept {
    if (!limit_.allows(record)) [[unlikely]]
      return false;
    put(record);
    base::light_barrier(); // L
    if (limit_.allows(record)) [[likely]]
      return true;
    put_already_ = true;
    return false;
  }

  attention push_anyway(Record* record) noexcept {
    if (put_already_)
      put_already_ = false; // the second look has found a request
    else
      put(record);
    return attend();
  }

  template <class Mine> [[gnu::always_inline]] static bool pop(Record*, Mine mine) noexcept {
    return mine().pop_newest();
  }
  [[gnu::always_inline]] bool pop_newest() noexcept {
    const std::int64_t at = tail_.load(base::relaxed) - 1;
    tail_.store(at, base::release);         // P: a thief that reads this may take what lies below
    base::full_fence();                     // C
    return head_.load(base::acquire) <= at; // S
  }

  bool take_back(Record*) noexcept {
    const base::locked guard{lock_};
    if (head_.load(base::relaxed) <= tail_.load(base::relaxed))
      return true; // the thief has stepped back
    start_afresh();
    return false;
  }

  bool take_back_root(Record* record) noexcept { return pop_newest() || take_back(record); }

  attention attend() noexcept { return limit_.attend(); }

  bool publish(Record*, void*) noexcept {
    const base::locked guard{lock_}; // else a thief that will step back could hide the fork
    if (anything_public())
      return true;
    // Other thieves were faster; the thief that asked may sleep by now.
    ask_before_sleep();
    return false;
  }

  // Opens the only fork of this deque.
  void publish_root(Record* record, void*) noexcept { put(record); }

  void adopt(stack::stack_id stack, std::uintptr_t, void* group) noexcept {
    const base::locked guard{lock_};
    group_ = group;
    start_afresh();
    limit_.adopt(stack);
  }

  bool give_back(std::uintptr_t, std::uintptr_t& above) noexcept {
    const base::locked guard{lock_}; // a thief that steps back could hide the fork
    if (anything_public())
      return false;
    above = 0;
    group_ = nullptr;
    start_afresh();
    limit_.adopt(stack::no_stack);
    return true;
  }
  static void publish_for_absent_owner() noexcept {}
  template <class See> static auto look_at(const Record*, See see) noexcept { return see(false); }

  outcome steal(void* group, entry<Record>& taken) noexcept {
    if (!anything_public())
      return outcome::empty;
    const base::locked guard{lock_};
    const std::int64_t at = head_.load(base::relaxed);
    head_.store(at + 1, base::relaxed);
    base::full_fence(); // C
    outcome result = outcome::empty;
    if (at < tail_.load(base::acquire)) { // P
      taken = {nullptr, slots_[at].load(base::relaxed), group_, error.read()};
      result = may_take(group, group_) ? outcome::got : outcome::foreign;
    }
    if (result == outcome::got)
      Record::taken(taken.frame);
    else
      head_.store(at, base::release); // S
    return result;
  }

  bool anything_public() const noexcept {
    return head_.load(base::relaxed) < tail_.load(base::relaxed);
  }

  // Every fork is public already.
  static void ask() noexcept {}
  void ask_before_sleep() noexcept { limit_.ask(); }
  void interrupt() noexcept { limit_.interrupt(); }
  [[gnu::always_inline]] bool allows_here() const noexcept { return limit_.allows_here(); }

  bool publish_for_owner(const void* = nullptr) noexcept { return anything_public(); }

  bool has_work(void* group) noexcept {
    const base::locked guard{lock_};
    return anything_public() && may_take(group, group_);
  }

private:
  [[gnu::always_inline]] void put(Record* record) noexcept {
    const std::int64_t at = tail_.load(base::relaxed);
    NOPAL_CHECK(at < capacity_);
    slots_[at].store(record->frame(), base::relaxed);
    tail_.store(at + 1, base::release); // P
  }

  // Called by the owner, which holds the lock, while no fork is open.
  void start_afresh() noexcept {
    head_.store(0, base::relaxed);
    tail_.store(0, base::relaxed);
  }

  alignas(64) limit<Stacks> limit_;
  base::atomic<std::int64_t> tail_{0};
  base::atomic<frame*>* slots_ = nullptr;
  bool put_already_ = false; // a push that has returned false has put the entry

  alignas(64) base::spin_lock lock_;
  base::atomic<std::int64_t> head_{0};
  std::int64_t capacity_ = 0;
  void* group_ = nullptr;
};

} // namespace nopal::inline NOPAL_ABI::deque
NOPAL_HIDDEN_END
