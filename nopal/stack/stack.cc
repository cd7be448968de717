// SPDX-License-Identifier: MIT
// The range and the pool of stack.h.
//
// The links of the pool lie in a table beside the stacks, so pooled stacks are not touched.
//
// Orders: `coming_back` falls (release) after the put: who reads that it is 0 (acquire) sees the
// stack in the pool.
#include "nopal/stack/stack.h"

#include "nopal/arch/gdb.h"
#include "nopal/base/check.h"
#include "nopal/base/free_list.h"
#include "nopal/base/limits.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/stack/small.h"
#include "nopal/stack/usable.h"

#include <algorithm>

namespace nopal::stack {

slots large_ones;

namespace {

// Slots are made smaller before there are fewer than this.
constexpr std::size_t kFewStacks = 64;
constexpr std::size_t kLeastStacks = 16;
// Of fewer, thieves leave some to others, and wait.
constexpr std::size_t kManyStacks = 4096;
constexpr std::size_t kForkMargin = std::size_t{16} << 10; // left to the frames below the last fork

struct range {
  std::uintptr_t base = 0;
  std::size_t stacks = 0;
  std::size_t stack_bytes = 0;
  int slot_shift = 26; // a slot has 2^slot_shift bytes: 64 MiB where addresses are not scarce
  bool may_run_out = false;
  std::size_t thieves_stacks = 0; // thieves make no more than so many
  void** fibers = nullptr;

  std::uintptr_t slot_bytes() const noexcept { return std::uintptr_t{1} << slot_shift; }
  std::size_t bytes() const noexcept { return stacks << slot_shift; }
};
range the_range;

base::free_list pool;
usable_stacks usable;
base::atomic<std::uint32_t> coming_back{0}; // taken from the pool, but left to their reclaimers

// From the pool, or new while there are fewer than `most`. A pooled stack whose pages a reclaimer
// is giving back is left to the reclaimer.
stack_id take(std::size_t most) noexcept {
  for (std::uint32_t pooled; (pooled = pool.take()) != base::free_list::none;) {
    if (reuse(stack_number(pooled), {}))
      return stack_number(pooled);
    coming_back.fetch_add(1, base::relaxed);
  }
  const std::uint32_t number = pool.create(most);
  if (number == base::free_list::none)
    return no_stack;
  const stack_id stack = stack_number(number);
  NOPAL_ASSERT(base::commit(reinterpret_cast<void*>(bottom(stack)), the_range.stack_bytes) &&
                   usable.reach(number),
               "the kernel refused memory for stack number %u of %zu KiB: %s", number + 1,
               the_range.stack_bytes >> 10, base::why_refused(the_range.stack_bytes).text);
  base::announce_stack(bottom(stack), top(stack));
  usable.set(number);
  return stack;
}

[[noreturn]] void die_of_want(const range& wanted, std::size_t room) noexcept {
  const char* const limit = base::what_limits_addresses();
  const auto each = static_cast<std::size_t>(wanted.slot_bytes() >> 20);
  if (limit != nullptr && wanted.bytes() > room)
    base::die("no address space for %zu stacks, %zu MiB each with what surrounds it, in half of "
              "what %s leaves: raise it, or lower NOPAL_STACK_SIZE",
              wanted.stacks, each, limit);
  base::die("no address space for %zu stacks, %zu MiB each with what surrounds it: %s",
            wanted.stacks, each, base::why_refused(wanted.bytes()).text);
}

// As many slots of the usual size as can be had; where that is few, smaller slots, and fewer of
// them last. What else the program maps must have room, too.
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
      die_of_want(next, room);
  }
}

} // namespace

stack_id stack_number(std::size_t number) noexcept {
  return the_range.base + (number << the_range.slot_shift);
}

std::size_t capacity() noexcept { return the_range.stacks; }
bool may_run_out() noexcept { return the_range.may_run_out; }
std::uint32_t created_stacks() noexcept { return pool.created(); }
bool is_usable(std::uint32_t number) noexcept { return usable.has(number); }

void open(std::size_t stack_bytes, std::size_t budget, unsigned max_stacks) noexcept {
  the_range = reserve_most(stack_bytes);
  // Each takes two mappings, itself and its guard; half of all are the program's.
  const std::size_t stacks = std::min(the_range.stacks, base::max_mappings() / 4);
  void* const links = base::map_zeroed(stacks * sizeof(std::uint32_t));
  NOPAL_ASSERT(links != nullptr && usable.open(stacks), "no memory for a table of %zu stacks: %s",
               stacks, base::why_refused(stacks * sizeof(std::uint32_t)).text);
  pool.open(links, sizeof(base::free_list::link));
  the_range.stacks = stacks;
  large_ones = {the_range.base, the_range.stacks, slot_bytes()};
  arch::nopal_gdb_range = {the_range.base, the_range.bytes(), slot_bytes()};
  the_range.may_run_out = max_stacks != 0 || stacks < kManyStacks;
  the_range.thieves_stacks = stacks < kManyStacks ? stacks - stacks / 4 : stacks;
  if (max_stacks != 0)
    the_range.thieves_stacks = std::min<std::size_t>(max_stacks, the_range.thieves_stacks);
  if (base::this_fiber() != nullptr)
    the_range.fibers = static_cast<void**>(base::map_zeroed(stacks * sizeof(void*)));
  open_book(stacks, budget);
}

[[noreturn]] static void all_are_in_use() noexcept {
  const char* const limit = base::what_limits_addresses();
  base::die("all %zu stacks are in use: more strands are suspended than %s allows", capacity(),
            limit != nullptr                  ? limit
            : the_range.stacks == most_stacks ? "the reserved address space"
                                              : "vm.max_map_count");
}

stack_id acquire() noexcept {
  for (unsigned tries = 1;; ++tries) {
    if (const stack_id stack = take(the_range.stacks))
      return stack;
    if (coming_back.load(base::acquire) == 0 && pool.empty())
      all_are_in_use();
    base::wait_briefly(tries);
  }
}

void come_back(stack_id stack) noexcept {
  pool.put(number_of(stack));
  coming_back.fetch_sub(1, base::release);
}

stack_id acquire_for_thief() noexcept { return take(the_range.thieves_stacks); }

void release(stack_id stack) noexcept {
  if (small::holds(stack))
    return small::release(stack);
  NOPAL_CHECK(is_ours(stack) && stack_of(stack) == stack);
  retire(top(stack));
  pool.put(number_of(stack));
}

std::uint32_t number_of(stack_id stack) noexcept {
  return static_cast<std::uint32_t>((stack - the_range.base) >> the_range.slot_shift);
}

bool in_guard(std::uintptr_t address) noexcept {
  return is_ours(address) && address < bottom(stack_of(address));
}

std::size_t size() noexcept { return the_range.stack_bytes; }
std::uintptr_t slot_bytes() noexcept { return the_range.slot_bytes(); }

bool together(std::uintptr_t a, std::uintptr_t b) noexcept {
  return is_ours(a) ? is_ours(b) && stack_of(a) == stack_of(b) : !is_ours(b);
}

std::uintptr_t bottom(stack_id stack) noexcept {
  return small::holds(stack) ? small::bottom(stack) : stack + slot_bytes() - the_range.stack_bytes;
}
std::uintptr_t lowest_fork(stack_id stack) noexcept { return bottom(stack) + kForkMargin; }

void* fiber_of(stack_id stack) noexcept {
  if (small::holds(stack))
    return small::fiber_of(stack);
  if (the_range.fibers == nullptr)
    return nullptr;
  void*& fiber = the_range.fibers[number_of(stack)];
  if (fiber == nullptr)
    fiber = base::new_fiber();
  return fiber;
}

} // namespace nopal::stack
