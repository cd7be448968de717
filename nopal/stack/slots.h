// SPDX-License-Identifier: MIT
// A range of addresses that is cut into slots, each with a stack at its upper end: the large stacks
// (stack.h) lie in one, those of spawned fibers (small.h) in another.
//
// The links of the pool, and the other tables, lie beside the stacks, so pooled stacks are not
// touched. A stack has its number before the kernel has given it memory, and a thread that looks at
// all stacks (sched/stop.cc) must not read one that has none yet.
//
// Ownership: all but the pool and the tables is constant after `open`.
// Orders:
//   U  set_usable: store release, by the thread that has made the stack. Partner: the acquire of
//      is_usable. A thread that uses the stack after that, and then passes a full fence, is seen by
//      a thread that passes one before is_usable.
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

NOPAL_HIDDEN_BEGIN
namespace nopal::stack {

// Where the slots lie. The slot of an address is found without a division: a slot has `units`
// units, which are a power of two of bytes, and a multiplication by 2^40 / units, rounded up,
// divides exactly where there are at most 2^20 slots of 2^10 units.
struct slots {
  std::uintptr_t base = 0;
  std::uintptr_t bytes = 0;
  std::uintptr_t each = 0; // bytes of one
  int unit_shift = 0;
  std::uint64_t inverse = 0;

  static constexpr int inverse_shift = 40;

  slots() = default;
  slots(std::uintptr_t at, std::size_t count, std::uintptr_t slot_bytes) noexcept
      : base{at}, bytes{count * slot_bytes}, each{slot_bytes},
        unit_shift{std::countr_zero(slot_bytes)},
        inverse{((std::uint64_t{1} << inverse_shift) + (each >> unit_shift) - 1) /
                (each >> unit_shift)} {}

  bool hold(std::uintptr_t address) const noexcept { return address - base < bytes; }
  std::uint32_t number_of(std::uintptr_t address) const noexcept {
    return static_cast<std::uint32_t>(((address - base) >> unit_shift) * inverse >> inverse_shift);
  }
  stack_id start(std::size_t number) const noexcept { return base + number * each; }
  std::uintptr_t top(stack_id stack) const noexcept { return stack + each; }
};

struct slot_range : slots {
  std::size_t stack_bytes = 0;
  std::size_t capacity = 0;
  base::free_list pool;

  // Before use. False: the tables' addresses are refused.
  bool open(const slots& where, std::size_t count, std::size_t bytes_of_stack) noexcept {
    if (!links_.open(count * sizeof(base::free_list::link)) || !usable_.open(count))
      return false;
    if (base::this_fiber() != nullptr)
      fibers_ = static_cast<void**>(base::map_zeroed(count * sizeof(void*)));
    static_cast<slots&>(*this) = where;
    stack_bytes = bytes_of_stack;
    capacity = count;
    pool.open(links_.start(), sizeof(base::free_list::link));
    return true;
  }

  std::uintptr_t bottom(stack_id stack) const noexcept { return top(stack) - stack_bytes; }
  std::uint32_t created() const noexcept { return pool.created(); }

  // Before set_usable. False: there is no memory for the tables.
  bool reach(std::uint32_t number) noexcept {
    return links_.reach((number + 1) * sizeof(base::free_list::link)) && usable_.reach(number + 1);
  }
  // The stack has its memory.
  void set_usable(std::uint32_t number) noexcept {
    base::announce_stack(bottom(start(number)), top(start(number)));
    is_usable_at(number).store(1, base::release); // U
  }
  bool is_usable(std::uint32_t number) const noexcept {
    return usable_.holds(number + 1) && is_usable_at(number).load(base::acquire) != 0; // U
  }

  // ThreadSanitizer's state of this stack, made when first asked for; null without ThreadSanitizer.
  void* fiber_of(stack_id stack) noexcept {
    if (fibers_ == nullptr)
      return nullptr;
    void*& fiber = fibers_[number_of(stack)];
    if (fiber == nullptr)
      fiber = base::new_fiber();
    return fiber;
  }

private:
  base::atomic<unsigned char>& is_usable_at(std::uint32_t number) const noexcept {
    return static_cast<base::atomic<unsigned char>*>(usable_.start())[number];
  }

  base::growing links_;
  base::growing usable_;
  void** fibers_ = nullptr;
};

} // namespace nopal::stack
NOPAL_HIDDEN_END
