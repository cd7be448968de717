// SPDX-License-Identifier: MIT
//
// What becomes of dead pages: the account of their budget (retirement.h), and the census.
//
// How much may be charged, in parts of the budget:
//   3/4  with bounds, for which nobody has to ask the kernel
//   1    with bounds and counts together
//   1/2  what idle workers leave
// So while idle workers keep up, leaving a stack is two atomic operations. Where none is idle, each
// stack that is left beyond three quarters has its pages counted (mincore, a call for each MiB),
// and only where those exceed the budget another call gives them back. Pages that were swapped out
// pass for pages without memory. With a budget of 0 nothing is ever charged: whoever leaves a stack
// gives its dead pages back with one call, uncounted. With an unlimited one nothing happens at all.
#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/config/options.h"
#include "nopal/stack/range.h"

#include <algorithm>

namespace nopal::stack {

base::atomic<void (*)(stack_id)> before_advice{nullptr};

namespace {

// An idle worker looks for work again after so many stacks.
constexpr unsigned kBatch = 8;
// Counted for the first time, so few pages are left alone: they are as many as the next strand will
// touch anyway.
constexpr std::uint32_t kFew = 4;

struct part {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;

  std::size_t bytes() const noexcept { return high - low; }
  std::uint32_t pages() const noexcept {
    return static_cast<std::uint32_t>(bytes() / base::page_size());
  }
  void* start() const noexcept { return reinterpret_cast<void*>(low); }
  std::uint32_t resident() const noexcept {
    return low == high ? 0 : static_cast<std::uint32_t>(base::resident_pages(start(), bytes()));
  }
};

// A sum over all stacks that are not in use, and the most that it has been.
class census_sum {
public:
  // Returns the sum.
  std::uint64_t add(std::uint32_t pages) noexcept {
    const std::uint64_t now = now_.fetch_add(pages, base::relaxed) + pages;
    std::uint64_t most = most_.load(base::relaxed);
    while (now > most && !most_.compare_exchange_weak(most, now, base::relaxed, base::relaxed)) {
    }
    return now;
  }
  void take(std::uint32_t pages) noexcept { now_.fetch_sub(pages, base::relaxed); }
  std::uint64_t most() const noexcept { return most_.load(base::relaxed); }

private:
  base::atomic<std::uint64_t> now_{0};
  base::atomic<std::uint64_t> most_{0};
};

// One of them.
struct counted {
  std::uint32_t live = 0;
  std::uint32_t dead = 0;
};

struct book {
  std::uint32_t budget = 0;          // pages
  retirement* retirements = nullptr; // none where the budget is unlimited
  counted* census = nullptr;
};
book the_book;

alignas(64) page_account account;
alignas(64) base::atomic<std::uint64_t> returned{0};
base::atomic<std::uint64_t> unmaps{0};
base::atomic<std::uint64_t> counts{0};
base::atomic<std::uint32_t> clock_hand{0};
census_sum live_pages;
census_sum dead_pages;

template <class T> T* table(std::size_t stacks) noexcept {
  void* const at = base::map_zeroed(stacks * sizeof(T));
  NOPAL_ASSERT(at != nullptr, "no memory for a table of %zu stacks", stacks);
  return static_cast<T*>(at);
}

// Below `frames`, which is inside the stack or its top.
part dead_below(stack_id stack, std::uintptr_t frames) noexcept {
  const std::uintptr_t low = bottom(stack);
  return {low, std::max(low, frames & ~(base::page_size() - 1))};
}

void note_returned(std::uint32_t pages) noexcept {
  returned.fetch_add(pages, base::relaxed);
  unmaps.fetch_add(1, base::relaxed);
}

// Asks the kernel, on behalf of the account.
std::uint32_t counted_pages(part dead) noexcept {
  counts.fetch_add(1, base::relaxed);
  return dead.resident();
}

charge charge_for(part dead) noexcept {
  const std::uint32_t budget = the_book.budget;
  if (account.charge(dead.pages(), budget - budget / 4))
    return {dead.pages(), false};
  const std::uint32_t there = budget == 0 ? dead.pages() : counted_pages(dead);
  if (account.charge(there, budget))
    return {there, true};
  base::discard(dead.start(), dead.bytes());
  note_returned(there);
  return {0, true};
}

// What stays charged of a stack that the caller has claimed.
charge advise(stack_id stack, part dead, charge before) noexcept {
  NOPAL_CHECK(dead.resident() <= before.pages);
  const std::uint32_t there = before.counted ? before.pages : counted_pages(dead);
  if (there <= kFew && !before.counted)
    return {there, true};
  base::discard(dead.start(), dead.bytes());
  note_returned(there);
  if (the_book.census != nullptr) {
    dead_pages.take(the_book.census[number_of(stack)].dead);
    the_book.census[number_of(stack)].dead = 0;
  }
  return {0, true};
}

void count_in(stack_id stack, part dead) noexcept {
  counted& here = the_book.census[number_of(stack)];
  here = {part{dead.high, top(stack)}.resident(), dead.resident()};
  live_pages.add(here.live);
  const std::uint64_t dead_in_total = dead_pages.add(here.dead);
  NOPAL_ASSERT(the_book.retirements == nullptr || dead_in_total <= the_book.budget,
               "the census found %zu dead stack pages, but the budget is %u: an error in Nopal, "
               "please report it",
               static_cast<std::size_t>(dead_in_total), the_book.budget);
}

void count_out(stack_id stack) noexcept {
  counted& here = the_book.census[number_of(stack)];
  live_pages.take(here.live);
  dead_pages.take(here.dead);
  here = {};
}

bool budgeted() noexcept { return the_book.retirements != nullptr; }

} // namespace

void open_book(std::size_t stacks, std::size_t budget_bytes, bool census) noexcept {
  if (budget_bytes != config::unlimited) {
    the_book.budget = static_cast<std::uint32_t>(budget_bytes / base::page_size());
    the_book.retirements = table<retirement>(stacks);
  }
  if (census)
    the_book.census = table<counted>(stacks);
}

void retire(std::uintptr_t from) noexcept {
  const stack_id stack = stack_of(from - 1);
  const part dead = dead_below(stack, from);
  const charge with = budgeted() ? charge_for(dead) : charge{};
  if (the_book.census != nullptr)
    count_in(stack, dead);
  if (budgeted())
    the_book.retirements[number_of(stack)].retire(dead.high, with);
}

bool take_back(stack_id stack, errand to_do) noexcept {
  charge with;
  if (budgeted() && !the_book.retirements[number_of(stack)].take_back(to_do, with))
    return false;
  if (the_book.census != nullptr)
    count_out(stack);
  account.discharge(with.pages);
  return true;
}

bool idle_ones_are_pooled() noexcept { return budgeted() || may_run_out(); }

bool crowded() noexcept { return budgeted() && account.charged() > the_book.budget / 2; }

// Stacks that were counted are visited again only if none is left that was not: a bound may be all
// that has to go.
bool tidy(errand& to_do) noexcept {
  const std::uint32_t stacks = created_stacks();
  unsigned claims = 0;
  for (std::uint32_t visited = 0; visited < 2 * stacks && claims < kBatch && crowded(); ++visited) {
    const stack_id stack = stack_number(clock_hand.fetch_add(1, base::relaxed) % stacks);
    retirement& of = the_book.retirements[number_of(stack)];
    charge before;
    if (!of.claim(before, visited >= stacks))
      continue;
    ++claims;
    if (void (*const hook)(stack_id) = before_advice.load(base::relaxed))
      hook(stack);
    const charge left = advise(stack, {bottom(stack), of.frames()}, before);
    account.discharge(before.pages - left.pages);
    if (!of.give_back(before, left, to_do))
      continue;
    if (to_do.frame != nullptr)
      return true;
    push_pool(stack);
  }
  return false;
}

usage measure() noexcept {
  usage total{};
  total.created = created_stacks();
  for (std::uint32_t number = 0; number < total.created; ++number) {
    const stack_id stack = stack_number(number);
    total.resident_pages += part{bottom(stack), top(stack)}.resident();
  }
  total.charged_pages = account.charged();
  total.pages_returned = returned.load(base::relaxed);
  total.unmaps = unmaps.load(base::relaxed);
  total.counts = counts.load(base::relaxed);
  total.most_live = live_pages.most();
  total.most_dead = dead_pages.most();
  return total;
}

} // namespace nopal::stack
