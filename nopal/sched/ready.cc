// SPDX-License-Identifier: MIT
//
// The line of strands that are ready, and threads that wait as such.
//
// Orders: `woken` is release for whoever waits on it, acquire. The line is under its lock, and its
// count a hint: who makes a strand ready looks for sleepers behind a fence, and a sleeper's last
// look, behind another, sees the count or is seen (vproc/README.md, "The steps").
#include "nopal/sched/waiting.h"

#include "nopal/base/os.h"
#include "nopal/deque/spin_lock.h"

namespace nopal::sched {

namespace {

// First in, first out. `count` is what idle workers look at.
struct ready_strands {
  deque::spin_lock lock;
  waiter* first = nullptr;
  waiter* last = nullptr;
  base::atomic<std::uint32_t> count{0};
};
alignas(64) ready_strands ready;

bool is_of(const waiter* strand, const seat* home) noexcept {
  return home == nullptr || strand->left->home == home;
}

} // namespace

void wait_as_thread(waiter& here) noexcept {
  const int error = *base::this_threads_error();
  if (here.enqueue(&here, here.argument))
    while (here.woken.load(base::acquire) == 0)
      base::futex_wait(here.woken, 0);
  base::happens_after(&here);
  base::set_error(error);
}

void make_ready(waiter* strand) noexcept {
  base::happens_before(strand);
  if (strand->left == nullptr) {
    // It may be gone as soon as it is woken; its address may not fault, since it is on a stack.
    base::atomic<std::uint32_t>& woken = strand->woken;
    woken.store(1, base::release);
    base::futex_wake_one(woken);
    return;
  }
  seat* const home = strand->left->home;
  {
    const deque::locked guard{ready.lock};
    strand->next = nullptr;
    (ready.first == nullptr ? ready.first : ready.last->next) = strand;
    ready.last = strand;
    ready.count.fetch_add(1, base::relaxed);
  }
  announce_ready(home);
}

waiter* take_ready(const seat* home) noexcept {
  if (ready.count.load(base::relaxed) == 0)
    return nullptr;
  const deque::locked guard{ready.lock};
  waiter* before = nullptr;
  for (waiter* at = ready.first; at != nullptr; before = at, at = at->next) {
    if (!is_of(at, home))
      continue;
    (before == nullptr ? ready.first : before->next) = at->next;
    if (at == ready.last)
      ready.last = before;
    ready.count.fetch_sub(1, base::relaxed);
    return at;
  }
  return nullptr;
}

bool any_ready(const seat* home) noexcept {
  if (ready.count.load(base::relaxed) == 0)
    return false;
  const deque::locked guard{ready.lock};
  const waiter* at = ready.first;
  while (at != nullptr && !is_of(at, home))
    at = at->next;
  return at != nullptr;
}

} // namespace nopal::sched
