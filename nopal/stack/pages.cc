// SPDX-License-Identifier: MIT
// What becomes of dead pages: the account of their budget (retirement.h).
//
// While less than 3/4 of the budget is charged, a strand that leaves a stack charges an upper
// bound, which costs no system call. Up to the whole budget it charges the counted pages (mincore,
// a call for each MiB), and beyond that it gives them back. Idle threads give back pages until the
// charge is at the watermark, 1/2. So while they keep up, leaving a stack is two atomic operations.
// Pages that were swapped out count as pages without memory. With a budget of 0 nothing is charged:
// a strand that leaves a stack gives its dead pages back by one call. With an unlimited one nothing
// happens.
#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/limits.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/config/options.h"
#include "nopal/stack/small.h"
#include "nopal/stack/stack.h"

#include <algorithm>
#include <memory>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack {

base::atomic<void (*)(event, stack_id, std::uintptr_t)> observer{nullptr};

namespace {

// After so many stacks an idle worker looks for work again.
constexpr unsigned kBatch = 8;
// If a first count finds at most so many pages, they stay: the next strand will touch as many.
constexpr std::uint32_t kFew = 4;

struct part { // of a stack
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;

  std::size_t bytes() const noexcept { return high - low; }
  std::uint32_t pages() const noexcept {
    return static_cast<std::uint32_t>(bytes() / base::page_size());
  }
  void* start() const noexcept { return reinterpret_cast<void*>(low); }
  std::uint32_t resident() const noexcept {
    return static_cast<std::uint32_t>(base::resident_pages(start(), bytes()));
  }
};

std::uint32_t budget = ~std::uint32_t{0}; // pages; the largest number: unlimited
retirement* retirements = nullptr;        // one for each stack; null if the budget is unlimited

alignas(64) page_account account;
alignas(64) base::atomic<std::uint64_t> returned{0};
base::atomic<std::uint64_t> unmaps{0};
base::atomic<std::uint64_t> counts{0};
base::atomic<std::uint32_t> clock_hand{0};

// The account is of the child's own stacks (stack.cc).
NOPAL_IN_CHILD([]() noexcept {
  budget = ~std::uint32_t{0};
  retirements = nullptr;
  std::construct_at(&account);
  for (base::atomic<std::uint64_t>* const each : {&returned, &unmaps, &counts})
    each->store(0, base::relaxed);
  clock_hand.store(0, base::relaxed);
});

void tell(event what, stack_id stack, std::uintptr_t frames) noexcept {
  if (auto* const observe = observer.load(base::relaxed))
    observe(what, stack, frames);
}

// Gives back a part of which at most `pages` pages have memory. An old kernel keeps locked pages:
// these stay, uncharged, since no later call could give them back.
void discard(part dead, std::uint32_t pages) noexcept {
  if (base::discard(dead.start(), dead.bytes()))
    returned.fetch_add(pages, base::relaxed);
  unmaps.fetch_add(1, base::relaxed);
}

// Asks the kernel, and counts the system call.
std::uint32_t counted_pages(part dead) noexcept {
  counts.fetch_add(1, base::relaxed);
  return dead.resident();
}

charge charge_for(part dead) noexcept {
  if (account.charge(dead.pages(), budget - budget / 4))
    return {dead.pages(), false};
  const std::uint32_t there = budget == 0 ? dead.pages() : counted_pages(dead);
  if (account.charge(there, budget))
    return {there, true};
  discard(dead, there);
  return {0, true};
}

// Gives back the dead pages of a stack that the caller has claimed. Returns what stays charged.
charge discard_dead(stack_id stack, part dead, charge before) noexcept {
  // The charge is an upper bound, unless memory was locked meanwhile (mlockall), which fills pages.
  NOPAL_CHECK(dead.resident() <= before.pages || base::is_locked(dead.start()));
  const std::uint32_t there = before.counted ? before.pages : counted_pages(dead);
  if (there <= kFew && !before.counted)
    return {there, true};
  discard(dead, there);
  tell(event::reclaimed, stack, dead.high);
  return {0, true};
}

bool budgeted() noexcept { return retirements != nullptr; }

} // namespace

void open_book(std::size_t stacks, std::size_t budget_bytes) noexcept {
  if (budget_bytes == config::unlimited)
    return;
  budget = static_cast<std::uint32_t>(budget_bytes / base::page_size());
  retirements = static_cast<retirement*>(base::map_zeroed(stacks * sizeof(retirement)));
  NOPAL_ASSERT(retirements != nullptr, "no memory for a table of %zu stacks: %s", stacks,
               base::why_refused(stacks * sizeof(retirement)).text);
}

std::uint32_t budget_pages() noexcept { return budget; }

void retire(stack_id stack, std::uintptr_t from) noexcept {
  if (small::holds(stack))
    return;
  const std::uintptr_t low = memory_bottom(stack);
  const part dead{low, std::max(low, (from + offset(stack)) & ~(base::page_size() - 1))};
  const charge charged = budgeted() ? charge_for(dead) : charge{};
  tell(event::left, stack, dead.high);
  if (budgeted())
    retirements[large_ones.number_of(stack)].retire(dead.high, charged);
}

bool reuse(stack_id stack, handoff to_do) noexcept {
  if (small::holds(stack))
    return true;
  charge charged;
  if (budgeted() && !retirements[large_ones.number_of(stack)].reuse(to_do, charged))
    return false;
  tell(event::reused, stack, memory_top(stack));
  account.discharge(charged.pages);
  return true;
}

bool idle_ones_are_pooled() noexcept { return budgeted() || may_run_out(); }

bool above_watermark() noexcept { return budgeted() && account.charged() > budget / 2; }

// The first round visits only stacks whose charge is a bound, since a count may show that few pages
// are dead. The second round visits all.
bool reclaim(handoff& to_do) noexcept {
  const std::uint32_t stacks = large_ones.created();
  unsigned claims = 0;
  for (std::uint32_t visited = 0; visited < 2 * stacks && claims < kBatch && above_watermark();
       ++visited) {
    const stack_id stack = large_ones.start(clock_hand.fetch_add(1, base::relaxed) % stacks);
    retirement& found = retirements[large_ones.number_of(stack)];
    charge before;
    if (!found.claim(before, visited >= stacks))
      continue;
    ++claims;
    tell(event::claimed, stack, found.frames());
    const charge left = discard_dead(stack, {memory_bottom(stack), found.frames()}, before);
    account.discharge(before.pages - left.pages);
    if (!found.give_back(before, left, to_do))
      continue;
    if (to_do.frame != nullptr)
      return true;
    come_back(stack);
  }
  return false;
}

usage measure() noexcept {
  const std::uint32_t stacks = large_ones.created();
  std::size_t resident = 0;
  for (std::uint32_t number = 0; number < stacks; ++number) {
    const stack_id stack = large_ones.start(number);
    resident += part{memory_bottom(stack), memory_top(stack)}.resident();
  }
  return {.created = stacks,
          .small_created = small::created(),
          .resident_pages = resident,
          .charged_pages = account.charged(),
          .pages_returned = returned.load(base::relaxed),
          .unmaps = unmaps.load(base::relaxed),
          .counts = counts.load(base::relaxed)};
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack
