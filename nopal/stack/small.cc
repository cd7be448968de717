// SPDX-License-Identifier: MIT
// The range and the pool of small.h.
//
// Where the kernel has guard regions, slots become usable many at a time, by one system call, since
// a guard region needs no change of the mapping. If memory is locked by then (mlockall), the kernel
// makes no guard regions and gives usable addresses memory at once. From then on each new stack
// becomes usable by itself, and the addresses below it stay without access.
//
// Free stacks above those that keep their pages give them back many at a time, neighbours by one
// system call, since each call interrupts the other processors.
//
// Invariants: each slot below `ready` was made usable whole, before its stack's guard was made.
//             kept + waiting <= kept_stacks, but for a moment.
//             No slot becomes usable whole once `each_alone` is set.
// Orders: `kept` counts the free stacks that have their pages, for a moment one too many: relaxed.
//         keeps(n) is written before stack n is put into the pool, and read after it is taken.
//         A  `ready` grows, and `each_alone` is set, under the lock `making` (acquire, release);
//            a thread that reads `ready` without it (acquire) sees that the slots are usable.
#include "nopal/stack/small.h"

#include "nopal/base/atomic.h"
#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/growing.h"
#include "nopal/base/limits.h"
#include "nopal/base/os.h"
#include "nopal/base/shared.h"
#include "nopal/base/spin_lock.h"
#include "nopal/base/thread.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <utility>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack::small {

slot_range in_use;

namespace {

// Mappings that are left to large stacks and to the program, if each small stack takes two.
constexpr std::size_t kOtherMappings = 6000;
// If the addresses are refused though no limit is on them, fewer stacks will do, but at least so
// many.
constexpr std::size_t kFewest = 1024;
// Left free below the stacks, so that no mark, read as a pointer (marks.h), leaves the range.
constexpr std::size_t kBelow = std::size_t{32} << 20;
// So many slots become usable at a time.
constexpr std::uint32_t kTogether = 16;

struct range {
  std::size_t stacks = 0;
  std::size_t stack_bytes = 0;
  std::size_t guard_bytes = 0;
  guard guarded = guard::none;

  std::size_t slot_bytes() const noexcept { return guard_bytes + stack_bytes; }
  std::size_t bytes() const noexcept { return stacks * slot_bytes(); }
};
range the_range;

base::growing keeps_pages; // a byte for each pooled stack: whether it has kept its pages
alignas(64) base::atomic<std::uint32_t> kept{0};

// Of a thread that is a process: a bit for each stack.
struct table_of_guards {
  unsigned char* bits = nullptr;
  ~table_of_guards() { std::free(std::exchange(bits, nullptr)); }
};
thread_local table_of_guards guards_made;

// Free stacks that have their pages and do not lie in the pool.
constexpr std::uint32_t kBatch = 64;
alignas(64) base::spin_lock waiting_lock;
std::array<std::uint32_t, kBatch> waiting; // the first `waiting_count`; under the lock
std::uint32_t waiting_count = 0;           // under the lock

alignas(64) base::atomic<std::uint32_t> ready{0};
base::atomic<std::uint32_t> making{0};
bool each_alone = false;          // under the lock `making`
std::uint32_t guard_pages = 0;    // stacks that take two mappings; under the lock, too
std::size_t most_guard_pages = 0; // 0: not known yet; under the lock, too

// After that nothing is open: the child reserves a range of its own.
NOPAL_IN_CHILD([]() noexcept {
  in_use.begin_anew(std::max(in_use.created(), ready.load(base::relaxed)));
  the_range = {};
  std::construct_at(&keeps_pages);
  kept.store(0, base::relaxed);
  waiting_lock.begin_anew();
  waiting_count = 0;
  ready.store(0, base::relaxed);
  making.store(0, base::relaxed);
  each_alone = false;
  guard_pages = 0;
});

void* place(std::uintptr_t address) noexcept { return reinterpret_cast<void*>(address); }
unsigned char& keeps(std::uint32_t n) noexcept {
  return static_cast<unsigned char*>(keeps_pages.start())[n];
}

[[noreturn]] void all_are_in_use(std::size_t stacks) noexcept {
  if (the_range.guarded == guard::page || stacks < the_range.stacks)
    base::die(
        "all %zu stacks of fibers are in use: with a guard each takes two of the mappings that "
        "vm.max_map_count allows where the kernel makes no guard regions (before Linux 6.13, and "
        "where memory is locked or data limited); raise that, or set NOPAL_FIBER_GUARDS=0",
        stacks);
  const char* const limit = base::what_limits_addresses();
  if (limit == nullptr)
    base::die("all %zu stacks of fibers are in use; let fewer fibers begin before others end",
              stacks);
  base::die("all %zu stacks of fibers are in use, as many as %s allows: raise that, lower "
            "NOPAL_FIBER_STACK_SIZE or NOPAL_STACK_SIZE, or let fewer fibers begin before others "
            "end",
            stacks, limit);
}

std::size_t stacks_by_mappings() noexcept {
  const std::size_t mappings = base::max_mappings();
  return (mappings - std::min(mappings, kOtherMappings)) / 2;
}

void count_guard_page() noexcept {
  if (most_guard_pages == 0)
    most_guard_pages = stacks_by_mappings();
  if (guard_pages == most_guard_pages)
    all_are_in_use(most_guard_pages);
  ++guard_pages;
}

// Takes a stack that waits to give its pages back; `none` if none does.
std::uint32_t take_waiting() noexcept {
  const base::locked guard{waiting_lock};
  return waiting_count == 0 ? base::free_list::none : waiting[--waiting_count];
}

// The stack gives its pages back, together with others.
void discard_later(std::uint32_t n) noexcept {
  std::array<std::uint32_t, kBatch> batch;
  {
    const base::locked guard{waiting_lock};
    waiting[waiting_count++] = n;
    if (waiting_count < kBatch)
      return;
    batch = waiting;
    waiting_count = 0;
  }
  for (const std::uint32_t each : batch)
    in_use.use_no_more(each);
  std::ranges::sort(batch);
  for (std::uint32_t from = 0, to = 0; from < kBatch; from = to) {
    do
      ++to;
    while (to < kBatch && batch[to] == batch[to - 1] + 1);
    const std::uintptr_t low = in_use.bottom(in_use.start(batch[from]));
    base::discard(place(low), in_use.top(in_use.start(batch[to - 1])) - low);
  }
  for (const std::uint32_t each : batch) {
    keeps(each) = 0;
    in_use.pool.put(each);
  }
}

// Makes slots usable if need be. Returns whether this one is usable whole, its guard included.
bool make_ready(std::uint32_t n) noexcept {
  if (n < ready.load(base::acquire)) // A
    return true;
  if (the_range.guarded == guard::page)
    return false;
  for (unsigned tries = 1; making.exchange(1, base::acquire) != 0; ++tries) // A
    base::wait_briefly(tries);
  const std::uint32_t from = ready.load(base::relaxed);
  const auto to = static_cast<std::uint32_t>(
      std::min<std::size_t>(the_range.stacks, std::size_t{n} + kTogether));
  if (n >= from && !each_alone) {
    void* const at = place(in_use.start(from));
    each_alone = base::is_locked(at) || !base::commit(at, in_use.start(to) - in_use.start(from));
    if (!each_alone)
      ready.store(to, base::release); // A
  }
  const bool whole = n < ready.load(base::relaxed);
  if (!whole && the_range.guarded == guard::region)
    count_guard_page();
  making.store(0, base::release); // A
  return whole;
}

// Makes the guard of a slot that is usable whole. Locked memory can have no guard regions.
bool guard_region(stack_id stack) noexcept {
  return base::install_guard(place(stack), the_range.guard_bytes) ||
         base::forbid(place(stack), the_range.guard_bytes);
}

// Gives a stack memory and its guard. Neighbouring slots that are usable whole share one mapping.
void make(stack_id stack) noexcept {
  const std::uint32_t n = in_use.number_of(stack);
  const bool done =
      make_ready(n)
          ? the_range.guarded == guard::none || base::shared != nullptr || guard_region(stack)
          : base::commit(place(in_use.bottom(stack)), the_range.stack_bytes);
  NOPAL_ASSERT(done, "the kernel refused memory for the stack of fiber number %u, of %zu KiB: %s",
               n + 1, size() >> 10, base::why_refused(the_range.stack_bytes).text);
  NOPAL_ASSERT(in_use.reach(n) && keeps_pages.reach(n + 1),
               "the kernel refused memory for the tables of %u stacks of fibers: %s", n + 1,
               base::why_refused(base::growing::piece).text);
  in_use.set_usable(n);
}

// How many stacks a limit on addresses allows: those that without guards fill an eighth of what it
// leaves, but with their guards no more than half.
std::size_t stacks_for(const range& next) noexcept {
  const std::size_t left = base::address_space_left();
  const std::size_t by_room = std::min(std::bit_floor(left / 8 / next.stack_bytes),
                                       std::bit_floor(left / 2 / next.slot_bytes()));
  return std::min(
      {most_stacks, by_room, next.guarded == guard::page ? stacks_by_mappings() : most_stacks});
}

// A frame that does not fork may be larger than any that forks. Where addresses are not limited,
// guards are at least as large as those of other threads.
std::size_t guard_size(std::size_t largest_frame) noexcept {
  return base::what_limits_addresses() != nullptr ? largest_frame
                                                  : std::max(largest_frame, base::usual_guard);
}

} // namespace

void open(std::size_t stack_bytes, bool guarded, std::size_t largest_frame) noexcept {
  guarded = guarded && (base::shared == nullptr || base::has_guard_regions());
  range next{.stack_bytes = stack_bytes, .guard_bytes = guarded ? guard_size(largest_frame) : 0};
  next.guarded = !guarded                                                           ? guard::none
                 : base::has_guard_regions() && !base::writable_memory_is_limited() ? guard::region
                                                                                    : guard::page;
  next.stacks = stacks_for(next);
  if (next.stacks == 0)
    return;
  const auto reserve = [&] { return base::reserve(next.bytes() + kBelow, kBelow); };
  void* at = reserve();
  while (at == nullptr && next.stacks > kFewest) {
    next.stacks /= 2;
    at = reserve();
  }
  if (at == nullptr)
    return;
  const slots where{reinterpret_cast<std::uintptr_t>(at) + kBelow, next.stacks, next.slot_bytes()};
  if (keeps_pages.open(next.stacks) && in_use.open(where, next.stacks, stack_bytes))
    the_range = next;
}

stack_id acquire() noexcept {
  if (the_range.stacks == 0)
    return no_stack;
  std::uint32_t n = in_use.pool.take();
  if (n != base::free_list::none) {
    if (keeps(n) != 0)
      kept.fetch_sub(1, base::relaxed);
    else
      in_use.use_again(n);
    return in_use.start(n);
  }
  n = take_waiting();
  if (n != base::free_list::none)
    return in_use.start(n);
  n = in_use.pool.create(the_range.stacks);
  if (n == base::free_list::none)
    all_are_in_use(the_range.stacks);
  make(in_use.start(n));
  return in_use.start(n);
}

void release(stack_id stack) noexcept {
  const std::uint32_t n = in_use.number_of(stack);
  if (kept.fetch_add(1, base::relaxed) >= kept_stacks - kBatch) {
    kept.fetch_sub(1, base::relaxed);
    return discard_later(n);
  }
  keeps(n) = 1;
  in_use.pool.put(n);
}

guard guarded_by() noexcept { return the_range.guarded; }

void guard_here(stack_id stack) noexcept {
  if (the_range.guarded != guard::region)
    return;
  if (guards_made.bits == nullptr)
    guards_made.bits = static_cast<unsigned char*>(std::calloc(1, most_stacks / 8));
  NOPAL_ASSERT(guards_made.bits != nullptr, "no memory for a table of %zu guards", most_stacks);
  const std::uint32_t n = in_use.number_of(stack);
  unsigned char& made = guards_made.bits[n / 8];
  const auto bit = static_cast<unsigned char>(1u << n % 8);
  if ((made & bit) == 0)
    base::install_guard(place(stack), the_range.guard_bytes);
  made |= bit;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack::small
