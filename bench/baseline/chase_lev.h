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
//   fork i is open  <=>  top <= i < bottom;   bottom <= room_ <= top + size
//
// Ownership:
//   bottom_, room_, mask_, slots_   owner
//   top_      any thread, by compare-and-swap from i to i + 1
//   array_    owner
//   group_    owner, while nothing is open
// Orders:
//   P  push: bottom store release. Partner: the thief's bottom load, acquire: entry, array, frame
//      and group are complete.
//   C  pop: bottom lowered, top load, seq_cst. Partner: top load, acquire, bottom load, seq_cst. Of
//      an owner that takes without compare-and-swap and a thief that wants the same entry, one sees
//      the other: if the owner's load misses the swap (T) that raised top to that entry, lowering
//      bottom comes before that swap, and so before the bottom load of a thief that saw the swap.
//   T  top: a thief's compare-and-swap seq_cst. The owner's load for room_, acquire, pairs with it:
//      the slot is used again only after its entry was read. The owner's swap publishes nothing.
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
#include "nopal/deque/error_place.h"
#include "nopal/deque/limit.h"
#include "nopal/deque/public_ring.h"
#include "nopal/stack/stack.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::deque {

// FirstSize is the number of entries of the first array, a power of two.
template <class Record, class Stacks = stack::bounds, std::int64_t FirstSize = 512>
class chase_lev {
  using frame = typename Record::frame_type;
  static_assert(FirstSize > 0 && (FirstSize & (FirstSize - 1)) == 0);

public:
  static constexpr bool adopts_late = false; // a push opens the fork before it looks at the limit

  static constexpr bool steals_under_lock = false;
  error_place error;

  constexpr chase_lev() noexcept = default;

  void open(bool fenced) noexcept {
    limit_.open(fenced);
    use(add_array(FirstSize));
    room_ = FirstSize;
  }

  // Returns false also if the array seems full, as that of a thread that runs no strands always
  // does.
  [[gnu::always_inline]] bool push(Record* record) noexcept {
    const std::int64_t at = bottom_.load(base::relaxed);
    if (at >= room_) [[unlikely]]
      return false;
    put(at, record);
    base::light_barrier(); // L
    if (limit_.allows_here()) [[likely]]
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
  // Returns false also if the fork is the last one: the owner must win it from the thieves.
  [[gnu::always_inline]] bool pop_newest() noexcept {
    const std::int64_t at = bottom_.fetch_sub(1, base::seq_cst) - 1; // C, and P for what lies below
    return top_.load(base::seq_cst) < at;                            // C
  }

  bool take_back(Record*) noexcept {
    const std::int64_t at = bottom_.load(base::relaxed);
    std::int64_t top = at;
    const bool ours = top_.compare_exchange_strong(top, at + 1, base::relaxed, base::relaxed);
    bottom_.store(at + 1, base::release); // P
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

  // Opens the only fork of this deque.
  void publish_root(Record* record, void*) noexcept { put_growing(record); }

  // Called while no fork is open.
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
  template <class See> static auto look_at(const Record*, See see) noexcept { return see(false); }

  outcome steal(void* group, entry<Record>& taken) noexcept {
    std::int64_t top = top_.load(base::acquire); // C
    if (top >= bottom_.load(base::seq_cst))      // C, P
      return outcome::empty;
    const array* entries = array_.load(base::acquire);                                  // G
    taken = {nullptr, entries->at(top).load(base::relaxed), group_.load(base::acquire), // H
             error.read()};
    if (!may_take(group, taken.group))
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
  void interrupt() noexcept { limit_.interrupt(); }
  [[gnu::always_inline]] bool allows_here() const noexcept { return limit_.allows_here(); }

  bool publish_for_owner(const void* = nullptr) noexcept { return anything_public(); }

  bool has_work(void* group) noexcept {
    return anything_public() && may_take(group, group_.load(base::acquire));
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

  // Called by the owner.
  [[gnu::always_inline]] void put(std::int64_t at, Record* record) noexcept {
    slots_[at & mask_].store(record->frame(), base::relaxed);
    bottom_.store(at + 1, base::release); // P
  }

  void put_growing(Record* record) noexcept {
    const std::int64_t at = bottom_.load(base::relaxed);
    if (at >= room_) {
      const std::int64_t top = top_.load(base::acquire); // T
      if (at - top > mask_)
        use(grow(array_.load(base::relaxed), top, at));
      room_ = top + mask_ + 1;
    }
    put(at, record);
  }

  void use(const array* entries) noexcept {
    slots_ = entries->slots;
    mask_ = entries->size - 1;
    array_.store(entries, base::release); // G
  }

  // Arrays are never freed: all those of a deque together are less than twice as large as the last.
  const array* add_array(std::int64_t size) noexcept {
    const auto count = static_cast<std::size_t>(size);
    void* slots = base::map_zeroed(count * sizeof(base::atomic<frame*>));
    NOPAL_ASSERT(slots != nullptr && arrays_made_ < most_arrays,
                 "no memory for a deque of %zu entries", count);
    array& made = arrays_[arrays_made_++];
    made = {size, static_cast<base::atomic<frame*>*>(slots)};
    return &made;
  }

  const array* grow(const array* full, std::int64_t top, std::int64_t bottom) noexcept {
    const array* larger = add_array(2 * full->size);
    for (std::int64_t i = top; i < bottom; ++i)
      larger->at(i).store(full->at(i).load(base::relaxed), base::relaxed);
    return larger;
  }

  alignas(64) limit<Stacks> limit_;
  base::atomic<std::int64_t> bottom_{0};
  std::int64_t room_ = 0; // bottom may rise to here: top as last read, and the array's size
  std::int64_t mask_ = 0;
  base::atomic<frame*>* slots_ = nullptr;
  base::atomic<const array*> array_{nullptr};
  base::atomic<void*> group_{nullptr};
  bool put_already_ = false; // a push that has returned false has put the entry
  unsigned arrays_made_ = 0;

  alignas(64) base::atomic<std::int64_t> top_{0};

  array arrays_[most_arrays];
};

} // namespace nopal::inline NOPAL_ABI::deque
NOPAL_HIDDEN_END
