// SPDX-License-Identifier: MIT
// A range of addresses that is cut into slots, each with a stack at its upper end: the large stacks
// (stack.h) lie in one, those of spawned fibers (small.h) in another.
//
// The pool's links and the other tables do not lie in the stacks, so a pooled stack is not touched.
// A stack has its number before it has memory, and a thread that looks at all stacks
// (sched/stop.cc) must not read one without memory.
//
// Ownership: all but the pool and the tables is constant after `open`.
// Orders:
//   U  set_usable: store release, by the thread that has made the stack. Partner: the acquire of
//      is_usable. If one thread calls set_usable and then passes a full fence, and another passes a
//      full fence and then calls is_usable, one of them sees what the other did before its fence.
#pragma once

#include "nopal/base/free_list.h"
#include "nopal/base/growing.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/stack/bounds.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack {

// What the user of each stack keeps for itself (stack.h).
inline constexpr std::uintptr_t owners_bytes = 80;

// Where the slots lie. number_of needs no division: a slot has `units` units of 2^unit_shift bytes,
// and a multiplication by 2^40 / units, rounded up, divides exactly as long as there are at most
// 2^20 slots of at most 2^10 units.
struct slots {
  std::uintptr_t base = 0;
  std::uintptr_t bytes = 0;
  std::uintptr_t slot_bytes = 0;
  int unit_shift = 0;
  std::uint64_t inverse = 0;

  static constexpr int inverse_shift = 40;

  slots() = default;
  slots(std::uintptr_t at, std::size_t count, std::uintptr_t bytes_of_slot) noexcept
      : base{at}, bytes{count * bytes_of_slot}, slot_bytes{bytes_of_slot},
        unit_shift{std::countr_zero(slot_bytes)},
        inverse{((std::uint64_t{1} << inverse_shift) + (slot_bytes >> unit_shift) - 1) /
                (slot_bytes >> unit_shift)} {}

  bool hold(std::uintptr_t address) const noexcept { return address - base < bytes; }
  std::uint32_t number_of(std::uintptr_t address) const noexcept {
    return static_cast<std::uint32_t>(((address - base) >> unit_shift) * inverse >> inverse_shift);
  }
  stack_id start(std::size_t number) const noexcept { return base + number * slot_bytes; }
  std::uintptr_t top(stack_id stack) const noexcept { return stack + slot_bytes; }
};

struct slot_range : slots {
  std::size_t stack_bytes = 0;
  std::size_t capacity = 0;
  base::free_list pool;
  base::growing links; // the pool's

  // Before use. False: the tables' addresses are refused.
  bool open(const slots& layout, std::size_t count, std::size_t bytes_of_stack) noexcept {
    if (!links.open(count * sizeof(base::free_list::link)) || !usable_.open(count))
      return false;
    if (base::this_fiber() != nullptr)
      fibers_ = static_cast<void**>(base::map_zeroed(count * sizeof(void*)));
    static_cast<slots&>(*this) = layout;
    stack_bytes = bytes_of_stack;
    capacity = count;
    pool.open(links.start(), sizeof(base::free_list::link));
    return true;
  }

  std::uintptr_t bottom(stack_id stack) const noexcept { return top(stack) - stack_bytes; }
  std::uint32_t created() const noexcept { return pool.created(); }

  // Before set_usable. False: there is no memory for the tables.
  bool reach(std::uint32_t number) noexcept {
    return links.reach((number + 1) * sizeof(base::free_list::link)) && usable_.reach(number + 1);
  }
  // The stack has its memory.
  void set_usable(std::uint32_t number) noexcept {
    base::announce_stack(bottom(start(number)), top(start(number)));
    use_again(number);
  }
  // Between these its pages are given back, and a look at it would bring one.
  void use_no_more(std::uint32_t number) noexcept { is_usable_at(number).store(0, base::relaxed); }
  void use_again(std::uint32_t number) noexcept {
    is_usable_at(number).store(1, base::release); // U
  }
  bool is_usable(std::uint32_t number) const noexcept {
    return usable_.holds(number + 1) && is_usable_at(number).load(base::acquire) != 0; // U
  }

  // ThreadSanitizer's fiber of this stack, made at the first call; null without the tool. Owner.
  void* fiber_of(stack_id stack) noexcept {
    if (fibers_ == nullptr)
      return nullptr;
    void*& fiber = fibers_[number_of(stack)];
    if (fiber == nullptr)
      fiber = base::new_fiber();
    return fiber;
  }

  // The strand that goes on there has this one, where strands are apart (base/races.h).
  void set_fiber(stack_id stack, void* fiber) noexcept {
    if (fibers_ != nullptr)
      fibers_[number_of(stack)] = fiber;
  }

  // In the child of fork(), where no stack of the parent's is used again: gives back the addresses
  // of slots from this number on, and is as before `open`. The other stacks keep what they hold, as
  // memory that is the parent's too until one of both writes it: frames there may be pointed to.
  void begin_anew(std::uint32_t used) noexcept {
    if (used < capacity)
      base::unreserve(reinterpret_cast<void*>(start(used)), bytes - used * slot_bytes);
    std::destroy_at(this);
    std::construct_at(this);
  }

private:
  base::atomic<unsigned char>& is_usable_at(std::uint32_t number) const noexcept {
    return static_cast<base::atomic<unsigned char>*>(usable_.start())[number];
  }

  base::growing usable_;
  void** fibers_ = nullptr;
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack
NOPAL_HIDDEN_END
