// SPDX-License-Identifier: MIT
// The range and the pool of small.h.
//
// Orders: `kept` counts the free stacks that have their pages, one too few or too many for a
// moment: relaxed. What a released stack keeps is written before it is put into the pool, and read
// by who takes it from there.
#include "nopal/stack/small.h"

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/free_list.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/stack/usable.h"

#include <algorithm>
#include <bit>

namespace nopal::stack::small {

slots in_use;

namespace {

// Mappings that are left to large stacks and to the program, where each guard takes two.
constexpr std::size_t kOtherMappings = 6000;
// Where addresses are scarce for another reason than a limit, fewer stacks will do, but not fewer.
constexpr std::size_t kFewest = 1024;
// As far below a mark as it points (marks.h), there is another stack or nothing.
constexpr std::size_t kBelow = std::size_t{32} << 20;

struct range {
  std::uintptr_t base = 0;
  std::size_t stacks = 0;
  int slot_shift = 18;
  guard with = guard::none;
  unsigned char* keeps_pages = nullptr; // of each free stack: whether it does
  void** fibers = nullptr;

  std::uintptr_t slot_bytes() const noexcept { return std::uintptr_t{1} << slot_shift; }
  std::size_t bytes() const noexcept { return stacks << slot_shift; }
};
range the_range;

base::free_list pool;
usable_stacks usable;
alignas(64) base::atomic<std::uint32_t> kept{0};

stack_id number(std::uint32_t n) noexcept {
  return the_range.base + (std::uintptr_t{n} << the_range.slot_shift);
}
std::uint32_t number_of(stack_id stack) noexcept {
  return static_cast<std::uint32_t>((stack - the_range.base) >> the_range.slot_shift);
}
std::uintptr_t bottom(stack_id stack) noexcept { return stack + base::page_size(); }
std::uintptr_t top(stack_id stack) noexcept { return stack + the_range.slot_bytes(); }

// Neighbours that may be used whole are one mapping.
void make(stack_id stack) noexcept {
  const std::uintptr_t from = the_range.with == guard::page ? bottom(stack) : stack;
  NOPAL_ASSERT(base::commit(reinterpret_cast<void*>(from), top(stack) - from) &&
                   (the_range.with != guard::region ||
                    base::install_guard(reinterpret_cast<void*>(stack), base::page_size())),
               "the kernel refused memory for the stack of fiber number %u, of %zu KiB",
               number_of(stack) + 1, static_cast<std::size_t>(the_range.slot_bytes() >> 10));
  base::announce_stack(bottom(stack), top(stack));
  usable.set(number_of(stack));
}

[[noreturn]] void all_are_in_use() noexcept {
  if (the_range.with == guard::page)
    base::die(
        "all %zu stacks of fibers are in use: with a guard each takes two of the mappings that "
        "vm.max_map_count allows on a kernel without guard regions (before Linux 6.13); raise "
        "that, or set NOPAL_FIBER_GUARDS=0",
        the_range.stacks);
  base::die(
      "all %zu stacks of fibers are in use; lower NOPAL_FIBER_STACK_SIZE if a limit on virtual "
      "memory (ulimit -v) allows no more, or let fewer fibers begin before others end",
      the_range.stacks);
}

std::size_t stacks_for(std::size_t slot_bytes, guard with) noexcept {
  const std::size_t by_room = std::bit_floor(base::address_space_left() / 8 / slot_bytes);
  const std::size_t mappings = base::max_mappings();
  const std::size_t by_mappings =
      with != guard::page ? most_stacks : (mappings - std::min(mappings, kOtherMappings)) / 2;
  return std::min({most_stacks, by_room, by_mappings});
}

} // namespace

void open(std::size_t slot_bytes, bool guarded) noexcept {
  range next;
  next.slot_shift = std::countr_zero(slot_bytes);
  next.with = !guarded ? guard::none : base::has_guard_regions() ? guard::region : guard::page;
  next.stacks = stacks_for(slot_bytes, next.with);
  if (next.stacks == 0)
    return;
  const auto reserve = [&] {
    return base::reserve(next.bytes() + kBelow, std::max(slot_bytes, kBelow));
  };
  void* at = reserve();
  while (at == nullptr && next.stacks > kFewest) {
    next.stacks /= 2;
    at = reserve();
  }
  if (at == nullptr)
    return;
  void* const links = base::map_zeroed(next.stacks * sizeof(base::free_list::link));
  void* const flags = base::map_zeroed(next.stacks);
  if (links == nullptr || flags == nullptr || !usable.open(next.stacks))
    return;
  next.base = reinterpret_cast<std::uintptr_t>(at) + kBelow;
  next.keeps_pages = static_cast<unsigned char*>(flags);
  if (base::this_fiber() != nullptr)
    next.fibers = static_cast<void**>(base::map_zeroed(next.stacks * sizeof(void*)));
  pool.open(links, sizeof(base::free_list::link));
  the_range = next;
  in_use = {next.base, next.bytes(), next.slot_bytes()};
}

stack_id acquire() noexcept {
  if (the_range.stacks == 0)
    return 0;
  std::uint32_t n = pool.take();
  if (n != base::free_list::none) {
    if (the_range.keeps_pages[n] != 0)
      kept.fetch_sub(1, base::relaxed);
    return number(n);
  }
  n = pool.create(the_range.stacks);
  if (n == base::free_list::none)
    all_are_in_use();
  make(number(n));
  return number(n);
}

void release(stack_id stack) noexcept {
  const std::uint32_t n = number_of(stack);
  const bool keep = kept.fetch_add(1, base::relaxed) < kept_stacks;
  if (!keep) {
    kept.fetch_sub(1, base::relaxed);
    base::discard(reinterpret_cast<void*>(bottom(stack)), top(stack) - bottom(stack));
  }
  the_range.keeps_pages[n] = keep;
  pool.put(n);
}

std::size_t capacity() noexcept { return the_range.stacks; }
guard guarded_by() noexcept { return the_range.with; }
std::uint32_t created() noexcept { return pool.created(); }
bool is_usable(std::uint32_t n) noexcept { return usable.has(n); }

void* fiber_of(stack_id stack) noexcept {
  if (the_range.fibers == nullptr)
    return nullptr;
  void*& fiber = the_range.fibers[number_of(stack)];
  if (fiber == nullptr)
    fiber = base::new_fiber();
  return fiber;
}

} // namespace nopal::stack::small
