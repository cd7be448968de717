// SPDX-License-Identifier: MIT
// Deque variant `chase_lev`: Chase and Lev's circular deque, without any lock.
//
//   index:   ... top-1   top ... bottom-1   bottom ...      entry i lies in slot i mod size
//            taken       open, public       free
//
// Every fork is public at once. The owner pushes and pops at `bottom`; thieves raise `top` by
// compare-and-swap. Owner and thieves meet over the last entry only, and for that the owner too
// must win the compare-and-swap. Indices only grow, except for the pop's step back, so a `top` that
// has not changed means that entry `top` has not changed, nor its group. A full array is replaced
// by one of twice the size; the old one is kept, since a thief may still read it.
//
// Invariant (no pop under way):
//   fork i is open  <=>  top <= i < bottom;   bottom - top <= size
//
// Ownership:
//   bottom_   owner
//   top_      any thread, by compare-and-swap from i to i + 1
//   array_    owner
//   group_    owner, while nothing is open
// Orders:
//   P  push: bottom store release. Partner: the thief's bottom load, acquire: entry, array, frame
//      and group are complete.
//   C  pop: bottom lowered, full fence, top load. Partner: top load, full fence, bottom load. Of an
//      owner that takes without compare-and-swap and a thief that wants the same entry, one sees
//      the other.
//   T  top: compare-and-swap seq_cst, load acquire. The owner's load in push pairs with the
//      thief's swap: the slot is used again only after its entry was read.
//   G  growing: array store release, the thief's load acquire: the copied entries are complete.
//   H  group: store release, load acquire: a thief that sees the owner's next group sees that the
//      entry is gone.
//   L  as in stack_map.h: bottom stored, light barrier, limit load.
// Progress: push (but for growing) and pop take a bounded number of steps, and so does an attempt
// to steal, which fails only if another operation took the entry.
// Paper: nowa-ipdps21, section IV-C; Chase and Lev (SPAA'05); orders after Le, Pop, Cohen and Zappa
// Nardelli (PPoPP'13), with the array published and read as its errata ask.
#pragma once

#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/deque/limit.h"
#include "nopal/deque/public_ring.h"
#include "nopal/stack/stack.h"

namespace nopal::inline NOPAL_ABI::deque {

// FirstSize: entries of the first array, a power of two.
template <class Record, class Stacks = stack::bounds, std::int64_t FirstSize = 512>
class chase_lev {
  using frame = typename Record::frame_type;
  static_assert(FirstSize > 0 && (FirstSize & (FirstSize - 1)) == 0);

public:
  static constexpr bool steals_under_lock = false;

  constexpr chase_lev() noexcept = default;

  void open(bool fenced) noexcept {
    limit_.open(fenced);
    array_.store(add_array(FirstSize), base::relaxed);
  }

  // False also if the array is full. The array of a thread that runs no strands always is.
  [[gnu::always_inline]] bool push(Record* record) noexcept {
    const std::int64_t at = bottom_.load(base::relaxed);
    const array* const entries = array_.load(base::relaxed);
    if (is_full(entries, at)) [[unlikely]]
      return false;
    put(entries, at, record);
    base::light_barrier(); // L
    if (limit_.allows(record)) [[likely]]
      return true;
    put_already_ = true;
    return false;
  }

  attention push_anyway(Record* record) noexcept {
    if (put_already_) {
      put_already_ = false; // the push has found a request
    } else {
      put_growing(record);
      base::light_barrier(); // L
    }
    return attend();
  }

  template <class Mine> [[gnu::always_inline]] static bool pop(Record*, Mine mine) noexcept {
    return mine().pop_newest();
  }
  // False also if the fork is the last one: the owner must win it from the thieves.
  [[gnu::always_inline]] bool pop_newest() noexcept {
    const std::int64_t at = bottom_.load(base::relaxed) - 1;
    bottom_.store(at, base::release); // P: a thief that reads this may take what lies below
    base::full_fence();               // C
    return top_.load(base::relaxed) < at;
  }

  bool take_back(Record*) noexcept {
    const std::int64_t at = bottom_.load(base::relaxed);
    std::int64_t top = at;
    const bool ours = top_.compare_exchange_strong(top, at + 1, base::seq_cst, base::relaxed); // T
    bottom_.store(at + 1, base::release);                                                      // P
    return ours;
  }

  bool take_back_root(Record* record) noexcept { return pop_newest() || take_back(record); }

  attention attend() noexcept { return limit_.attend(); }

  bool publish(Record*, void*) noexcept {
    if (anything_public())
      return true;
    // Other thieves were faster; the thief that asked may sleep by now.
    ask_before_sleep();
    return false;
  }

  // The only open fork of this deque.
  void publish_root(Record* record, void*) noexcept { put_growing(record); }

  // Nothing is open.
  void adopt(stack::stack_id stack, std::uintptr_t, void* group) noexcept {
    group_.store(group, base::release); // H
    limit_.adopt(stack);
  }

  bool give_back(std::uintptr_t, std::uintptr_t& above) noexcept {
    if (anything_public())
      return false;
    above = 0;
    adopt(stack::no_stack, 0, nullptr);
    return true;
  }
  static void publish_for_absent_owner() noexcept {}

  outcome steal(void* group, entry<Record>& taken) noexcept {
    std::int64_t top = top_.load(base::acquire); // T
    base::full_fence();                          // C
    if (top >= bottom_.load(base::acquire))      // P
      return outcome::empty;
    const array* entries = array_.load(base::acquire);                                   // G
    taken = {nullptr, entries->at(top).load(base::relaxed), group_.load(base::acquire)}; // H
    if (group != nullptr && taken.group != group)
      return top_.load(base::relaxed) == top ? outcome::foreign : outcome::lost;
    return top_.compare_exchange_strong(top, top + 1, base::seq_cst, base::relaxed) // T
               ? outcome::got
               : outcome::lost;
  }

  bool anything_public() const noexcept {
    return top_.load(base::relaxed) < bottom_.load(base::relaxed);
  }

  // Every fork is public already.
  static void ask() noexcept {}
  void ask_before_sleep() noexcept { limit_.ask(); }

  bool publish_for_owner(const void* = nullptr) noexcept { return anything_public(); }

  bool has_work(void* group) noexcept {
    return anything_public() && (group == nullptr || group_.load(base::acquire) == group);
  }

private:
  static constexpr unsigned most_arrays = 24;

  struct array {
    std::int64_t size = 0;
    base::atomic<frame*>* slots = nullptr;

    base::atomic<frame*>& at(std::int64_t index) const noexcept {
      return slots[index & (size - 1)];
    }
  };
  static constexpr array nothing{};

  [[gnu::always_inline]] bool is_full(const array* entries, std::int64_t bottom) const noexcept {
    return bottom - top_.load(base::acquire) >= entries->size; // T
  }

  [[gnu::always_inline]] void put(const array* entries, std::int64_t at, Record* record) noexcept {
    entries->at(at).store(record->frame(), base::relaxed);
    bottom_.store(at + 1, base::release); // P
  }

  void put_growing(Record* record) noexcept {
    const std::int64_t at = bottom_.load(base::relaxed);
    const array* entries = array_.load(base::relaxed);
    if (is_full(entries, at))
      entries = grow(entries, at);
    put(entries, at, record);
  }

  // Arrays are never freed: all of one deque's together have less than twice the last one's size.
  const array* add_array(std::int64_t size) noexcept {
    const auto count = static_cast<std::size_t>(size);
    void* slots = base::map_zeroed(count * sizeof(base::atomic<frame*>));
    NOPAL_ASSERT(slots != nullptr && arrays_made_ < most_arrays,
                 "no memory for a deque of %zu entries", count);
    array& made = arrays_[arrays_made_++];
    made = {size, static_cast<base::atomic<frame*>*>(slots)};
    return &made;
  }

  const array* grow(const array* full, std::int64_t bottom) noexcept {
    const array* larger = add_array(2 * full->size);
    for (std::int64_t i = top_.load(base::acquire); i < bottom; ++i)
      larger->at(i).store(full->at(i).load(base::relaxed), base::relaxed);
    array_.store(larger, base::release); // G
    return larger;
  }

  alignas(64) limit<Stacks> limit_;
  base::atomic<std::int64_t> bottom_{0};
  base::atomic<const array*> array_{&nothing};
  base::atomic<void*> group_{nullptr};
  bool put_already_ = false; // by a push that has returned false
  unsigned arrays_made_ = 0;

  alignas(64) base::atomic<std::int64_t> top_{0};

  array arrays_[most_arrays];
};

} // namespace nopal::inline NOPAL_ABI::deque
