// SPDX-License-Identifier: MIT
// Counts, exactly, the pages of all stacks on which no strand runs: the live pages, which hold
// frames, and the dead ones, of which there must be no more than the budget.
//
// The census asks the kernel twice each time that a strand leaves a stack, so a program that counts
// is slow. A stack's entry belongs to the thread that owns the stack or gives its pages back
// (nopal/stack/retirement.h), so it needs no lock.
//
// Thread rules: `start` before the first fork; all else at any time, from any thread.
#pragma once

#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/stack/stack.h"

#include <atomic>
#include <cstdint>

namespace census {

// A sum over all those stacks, and its largest value so far.
class sum {
public:
  // Returns the sum.
  std::uint64_t add(std::uint64_t pages) noexcept {
    const std::uint64_t now = now_.fetch_add(pages, std::memory_order_relaxed) + pages;
    std::uint64_t most = most_.load(std::memory_order_relaxed);
    while (now > most && !most_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
    return now;
  }
  void take(std::uint64_t pages) noexcept { now_.fetch_sub(pages, std::memory_order_relaxed); }
  std::uint64_t most() const noexcept { return most_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> now_{0};
  std::atomic<std::uint64_t> most_{0};
};

// One of those stacks.
struct counted {
  std::uint64_t live = 0;
  std::uint64_t dead = 0;
};

inline counted counted_of[nopal::stack::most_stacks];
inline sum live;
inline sum dead;

inline std::uint64_t pages_with_memory(std::uintptr_t low, std::uintptr_t high) noexcept {
  return low == high ? 0 : nopal::base::resident_pages(reinterpret_cast<void*>(low), high - low);
}

// The observer (stack.h). Another observer calls this one, too, if the census is to go on.
inline void see(nopal::stack::event what, nopal::stack::stack_id id,
                std::uintptr_t frames) noexcept {
  namespace stack = nopal::stack;
  counted& pages = counted_of[stack::large_ones.number_of(id)];
  switch (what) {
  case stack::event::left: {
    pages = {pages_with_memory(frames, stack::memory_top(id)),
             pages_with_memory(stack::memory_bottom(id), frames)};
    live.add(pages.live);
    const std::uint64_t in_total = dead.add(pages.dead);
    NOPAL_ASSERT(in_total <= stack::budget_pages(),
                 "the census found %zu dead stack pages, but the budget is %u: an error in Nopal, "
                 "please report it",
                 static_cast<std::size_t>(in_total), stack::budget_pages());
    break;
  }
  case stack::event::claimed:
    break;
  case stack::event::reclaimed:
    dead.take(pages.dead);
    pages.dead = 0;
    break;
  case stack::event::reused:
    live.take(pages.live);
    dead.take(pages.dead);
    pages = {};
    break;
  }
}

inline void start() noexcept { nopal::stack::observer.store(see, std::memory_order_relaxed); }

} // namespace census
