// SPDX-License-Identifier: MIT
//
// The range, the pool and the pages of stack.h.
//
// The pool is a list of stack numbers with a tag in its head, which makes the pop immune to a
// number that went and came back (ABA). The links lie in a table beside the stacks, so pooled
// stacks are not touched.
//   head: tag (upper 32 bits) | number of the first stack + 1 (lower 32 bits), 0 = empty
//
// Orders: pushing publishes the link (release) to the pop that reads it (acquire).
#include "nopal/stack/stack.h"

#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"

#include <algorithm>

namespace nopal::stack {

namespace {

constexpr std::size_t kLeastStacks = 64;
constexpr std::size_t kForkMargin = std::size_t{16} << 10; // left to the frames below the last fork

struct range {
  std::uintptr_t base = 0;
  std::size_t stacks = 0;
  std::size_t stack_bytes = 0;
  base::stack_policy policy = base::stack_policy::keep;
  std::size_t thieves_stacks = 0; // under `bounded`: thieves make no more than so many
  base::atomic<std::uint32_t>* links = nullptr;
  void** fibers = nullptr;
  std::uintptr_t* remapped = nullptr; // by stack: its pages below this address are the empty file's
};
range the_range;

alignas(64) base::atomic<std::uint64_t> pool_head{0};
alignas(64) base::atomic<std::uint32_t> created{0};

stack_id stack_number(std::size_t number) noexcept { return the_range.base + number * slot_bytes; }

void* pointer(std::uintptr_t address) noexcept { return reinterpret_cast<void*>(address); }

stack_id pop_pool() noexcept {
  std::uint64_t head = pool_head.load(base::acquire);
  while (static_cast<std::uint32_t>(head) != 0) {
    const std::uint32_t number = static_cast<std::uint32_t>(head) - 1;
    const std::uint64_t next =
        (((head >> 32) + 1) << 32) | the_range.links[number].load(base::relaxed);
    if (pool_head.compare_exchange_weak(head, next, base::acquire, base::acquire))
      return stack_number(number);
  }
  return no_stack;
}

void push_pool(stack_id stack) noexcept {
  const std::uint32_t number = number_of(stack);
  std::uint64_t head = pool_head.load(base::relaxed);
  std::uint64_t next;
  do {
    the_range.links[number].store(static_cast<std::uint32_t>(head), base::relaxed);
    next = (((head >> 32) + 1) << 32) | (number + 1);
  } while (!pool_head.compare_exchange_weak(head, next, base::release, base::relaxed));
}

stack_id create(std::uint32_t number) noexcept {
  NOPAL_ASSERT(number < the_range.stacks,
               "all %zu stacks are in use: more strands are suspended than the reserved address "
               "space holds",
               the_range.stacks);
  const stack_id stack = stack_number(number);
  NOPAL_ASSERT(base::commit(pointer(bottom(stack)), the_range.stack_bytes),
               "the kernel refused memory for stack number %u of %zu KiB", number + 1,
               the_range.stack_bytes >> 10);
  base::announce_stack(bottom(stack), top(stack));
  return stack;
}

} // namespace

void open(std::size_t stack_bytes, base::stack_rule rule) noexcept {
  std::size_t stacks = most_stacks;
  void* at = base::reserve(stacks * slot_bytes, slot_bytes);
  while (at == nullptr && stacks > kLeastStacks) {
    stacks /= 2;
    at = base::reserve(stacks * slot_bytes, slot_bytes);
  }
  void* links = base::map_zeroed(stacks * sizeof(std::uint32_t));
  NOPAL_ASSERT(at != nullptr && links != nullptr,
               "no address space for %zu stacks, %zu MiB each with what surrounds it: raise the "
               "limit on virtual memory (ulimit -v)",
               kLeastStacks, static_cast<std::size_t>(slot_bytes >> 20));
  the_range.base = reinterpret_cast<std::uintptr_t>(at);
  the_range.stacks = stacks;
  the_range.stack_bytes = stack_bytes;
  the_range.policy = rule.policy;
  the_range.thieves_stacks = std::min<std::size_t>(rule.max_stacks, stacks);
  the_range.links = static_cast<base::atomic<std::uint32_t>*>(links);
  if (base::this_fiber() != nullptr)
    the_range.fibers = static_cast<void**>(base::map_zeroed(stacks * sizeof(void*)));
  if (rule.policy == base::stack_policy::remap) {
    the_range.remapped =
        static_cast<std::uintptr_t*>(base::map_zeroed(stacks * sizeof(std::uintptr_t)));
    NOPAL_ASSERT(the_range.remapped != nullptr, "no memory for a table of %zu stacks", stacks);
  }
}

bool may_run_out() noexcept { return the_range.policy == base::stack_policy::bounded; }

stack_id acquire() noexcept {
  const stack_id pooled = pop_pool();
  return pooled != no_stack ? pooled : create(created.fetch_add(1, base::relaxed));
}

stack_id acquire_for_thief() noexcept {
  const stack_id pooled = pop_pool();
  if (pooled != no_stack)
    return pooled;
  std::uint32_t number = created.load(base::relaxed);
  do {
    if (may_run_out() && number >= the_range.thieves_stacks)
      return no_stack;
  } while (!created.compare_exchange_weak(number, number + 1, base::relaxed, base::relaxed));
  return create(number);
}

void release(stack_id stack) noexcept {
  NOPAL_CHECK(is_ours(stack) && stack_of(stack) == stack);
  push_pool(stack);
}

std::uint32_t number_of(stack_id stack) noexcept {
  return static_cast<std::uint32_t>((stack - the_range.base) / slot_bytes);
}

bool is_ours(std::uintptr_t address) noexcept {
  return address - the_range.base < the_range.stacks * slot_bytes;
}

bool in_guard(std::uintptr_t address) noexcept {
  return is_ours(address) && address < bottom(stack_of(address));
}

std::size_t size() noexcept { return the_range.stack_bytes; }

stack_id stack_of(std::uintptr_t address) noexcept { return address & ~(slot_bytes - 1); }

std::uintptr_t top(stack_id stack) noexcept { return stack + slot_bytes; }
std::uintptr_t bottom(stack_id stack) noexcept { return top(stack) - the_range.stack_bytes; }
std::uintptr_t lowest_fork(stack_id stack) noexcept { return bottom(stack) + kForkMargin; }

std::size_t retire_below(std::uintptr_t from) noexcept {
  using enum base::stack_policy;
  if (the_range.policy == keep || the_range.policy == bounded)
    return 0;
  const std::uintptr_t low = bottom(stack_of(from - 1));
  const std::uintptr_t high = from & ~(base::page_size() - 1);
  if (high <= low)
    return 0;
  const std::size_t resident = base::resident_pages(pointer(low), high - low);
  if (resident == 0)
    return 0;
  if (the_range.policy == dontneed) {
    base::discard(pointer(low), high - low);
  } else if (the_range.policy == free) {
    base::offer_to_kernel(pointer(low), high - low);
  } else {
    NOPAL_ASSERT(base::map_empty_file(pointer(low), high - low),
                 "the kernel refused to map an empty file over unused stack pages: raise "
                 "vm.max_map_count or the limit on open files, or choose another "
                 "NOPAL_STACK_POLICY than remap");
    the_range.remapped[number_of(stack_of(low))] = high;
  }
  return resident;
}

void reuse(stack_id stack) noexcept {
  if (the_range.remapped == nullptr)
    return;
  std::uintptr_t& high = the_range.remapped[number_of(stack)];
  if (high == 0)
    return;
  NOPAL_ASSERT(base::map_fresh(pointer(bottom(stack)), high - bottom(stack)),
               "the kernel refused memory for a stack that goes on");
  high = 0;
}

void* fiber_of(stack_id stack) noexcept {
  if (the_range.fibers == nullptr)
    return nullptr;
  void*& fiber = the_range.fibers[number_of(stack)];
  if (fiber == nullptr)
    fiber = base::new_fiber();
  return fiber;
}

usage measure() noexcept {
  const std::size_t count = std::min<std::size_t>(created.load(base::relaxed), the_range.stacks);
  usage total{count, 0};
  for (std::size_t number = 0; number < count; ++number)
    total.resident_pages +=
        base::resident_pages(pointer(bottom(stack_number(number))), the_range.stack_bytes);
  return total;
}

} // namespace nopal::stack
