// SPDX-License-Identifier: MIT
// The range and the pool of stack.h.
//
// Orders: come_back puts the stack into the pool and then lowers `coming_back` (release). A thread
// that reads 0 (acquire) finds the stack in the pool.
#include "nopal/stack/stack.h"

#include "nopal/arch/gdb.h"
#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/limits.h"
#include "nopal/base/os.h"
#include "nopal/stack/small.h"

#include <algorithm>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack {

slot_range large_ones;

namespace {

constexpr std::size_t kFewStacks = 64;    // before there are fewer, slots become smaller
constexpr std::size_t kLeastStacks = 16;  // with fewer the program ends
constexpr std::size_t kManyStacks = 4096; // with fewer, thieves wait and leave the last quarter
constexpr std::size_t kForkMargin = std::size_t{16} << 10; // left to the frames below the last fork

struct range {
  std::uintptr_t base = 0;
  std::size_t stacks = 0;
  std::size_t stack_bytes = 0;
  int slot_shift = 26; // a slot has 2^slot_shift bytes: 64 MiB where addresses are not scarce

  std::uintptr_t slot_bytes() const noexcept { return std::uintptr_t{1} << slot_shift; }
  std::size_t bytes() const noexcept { return stacks << slot_shift; }
};

bool few_stacks = false;                    // stacks may run out
std::size_t thieves_stacks = 0;             // a thief makes a stack only if there are fewer
base::atomic<std::uint32_t> coming_back{0}; // stacks taken from the pool and left to reclaimers

// After that nothing is open: the child reserves a range of its own.
NOPAL_IN_CHILD([]() noexcept {
  large_ones.begin_anew(large_ones.created());
  few_stacks = false;
  thieves_stacks = 0;
  coming_back.store(0, base::relaxed);
});

// Returns a pooled stack, or a new one if there are fewer than `most`, or no_stack. If a reclaimer
// is giving back the pages of a pooled stack, the stack is left to the reclaimer.
stack_id take(std::size_t most) noexcept {
  for (std::uint32_t pooled; (pooled = large_ones.pool.take()) != base::free_list::none;) {
    if (reuse(large_ones.start(pooled), {}))
      return large_ones.start(pooled);
    coming_back.fetch_add(1, base::relaxed);
  }
  const std::uint32_t number = large_ones.pool.create(most);
  if (number == base::free_list::none)
    return no_stack;
  const stack_id stack = large_ones.start(number);
  NOPAL_ASSERT(base::commit(reinterpret_cast<void*>(memory_bottom(stack)), size()) &&
                   large_ones.reach(number),
               "the kernel refused memory for stack number %u of %zu KiB: %s", number + 1,
               size() >> 10, base::why_refused(size()).text);
  large_ones.set_usable(number);
  return stack;
}

[[noreturn]] void die_without_addresses(const range& wanted, std::size_t room) noexcept {
  const char* const limit = base::what_limits_addresses();
  const auto each = static_cast<std::size_t>(wanted.slot_bytes() >> 20);
  if (limit != nullptr && wanted.bytes() > room)
    base::die("no address space for %zu stacks, %zu MiB each with what surrounds it, in half of "
              "what %s leaves: raise it, or lower NOPAL_STACK_SIZE",
              wanted.stacks, each, limit);
  base::die("no address space for %zu stacks, %zu MiB each with what surrounds it: %s",
            wanted.stacks, each, base::why_refused(wanted.bytes()).text);
}

// Reserves slots of the usual size, as many as it can get. If these are few, it tries smaller
// slots, and at last fewer. Half of the addresses are left to what else the program maps.
range reserve_most(std::size_t stack_bytes) noexcept {
  const std::size_t room = base::address_space_left() / 2;
  range next{.stacks = most_stacks, .stack_bytes = stack_bytes};
  for (;;) {
    if (next.bytes() <= room) {
      next.base = reinterpret_cast<std::uintptr_t>(base::reserve(next.bytes(), next.slot_bytes()));
      if (next.base != 0)
        return next;
    }
    if (next.stacks > kFewStacks)
      next.stacks /= 2;
    else if (next.slot_bytes() > 2 * stack_bytes)
      --next.slot_shift;
    else if (next.stacks > kLeastStacks)
      next.stacks /= 2;
    else
      die_without_addresses(next, room);
  }
}

} // namespace

bool may_run_out() noexcept { return few_stacks; }

void open(std::size_t stack_bytes, std::size_t budget, unsigned max_stacks) noexcept {
  const range reserved = reserve_most(stack_bytes);
  // A stack and its guard are two mappings, and half of all mappings are the program's.
  const std::size_t stacks = std::min(reserved.stacks, base::max_mappings() / 4);
  NOPAL_ASSERT(large_ones.open({reserved.base, stacks, reserved.slot_bytes()}, stacks, stack_bytes),
               "no memory for a table of %zu stacks: %s", stacks,
               base::why_refused(stacks * sizeof(std::uint32_t)).text);
  arch::nopal_gdb_range = {reserved.base, large_ones.bytes, reserved.slot_bytes()};
  few_stacks = max_stacks != 0 || stacks < kManyStacks;
  thieves_stacks = stacks < kManyStacks ? stacks - stacks / 4 : stacks;
  if (max_stacks != 0)
    thieves_stacks = std::min<std::size_t>(max_stacks, thieves_stacks);
  open_book(stacks, budget);
  view::open(large_ones);
}

[[noreturn]] static void all_are_in_use() noexcept {
  const char* const limit = base::what_limits_addresses();
  base::die("all %zu stacks are in use, as many as %s allows%s; let fewer strands wait at a time, "
            "or let spawned fibers wait, of which there may be more",
            capacity(),
            limit != nullptr            ? limit
            : capacity() == most_stacks ? "the reserved address space"
                                        : "a quarter of vm.max_map_count",
            limit != nullptr || capacity() != most_stacks ? ": raise that" : "");
}

stack_id acquire() noexcept {
  for (unsigned tries = 1;; ++tries) {
    if (const stack_id stack = take(capacity()))
      return stack;
    if (coming_back.load(base::acquire) == 0 && large_ones.pool.empty())
      all_are_in_use();
    base::wait_briefly(tries);
  }
}

void come_back(stack_id stack) noexcept {
  large_ones.pool.put(large_ones.number_of(stack));
  coming_back.fetch_sub(1, base::release);
}

stack_id acquire_for_thief() noexcept { return take(thieves_stacks); }

void release(stack_id stack) noexcept {
  if (small::holds(stack))
    return small::release(stack);
  NOPAL_CHECK(is_ours(stack) && stack_of(stack) == stack);
  retire(stack, top(stack));
  large_ones.pool.put(large_ones.number_of(stack));
}

bool in_guard(std::uintptr_t address) noexcept {
  if (view::on() && view::in_guard(address))
    return true;
  return is_ours(address) && address < bottom(stack_of(address));
}

bool together(std::uintptr_t a, std::uintptr_t b, stack_id on) noexcept {
  return is_ours(a) ? is_ours(b) && stack_of(a, on) == stack_of(b, on) : !is_ours(b);
}

std::uintptr_t bottom(stack_id stack) noexcept {
  return is_viewed(stack) ? view::where.low : memory_bottom(stack);
}
std::uintptr_t offset(stack_id stack) noexcept {
  return view::on() && stack != no_stack && is_viewed(stack) ? memory_top(stack) - view::top(stack)
                                                             : 0;
}
std::uintptr_t lowest_fork(stack_id stack) noexcept { return bottom(stack) + kForkMargin; }

void* fiber_of(stack_id stack) noexcept {
  return (small::holds(stack) ? small::in_use : large_ones).fiber_of(stack);
}
void set_fiber(stack_id stack, void* fiber) noexcept {
  (small::holds(stack) ? small::in_use : large_ones).set_fiber(stack, fiber);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack
