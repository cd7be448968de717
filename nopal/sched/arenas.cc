// SPDX-License-Identifier: MIT
// The arenas that are open, and their places.
//
// Orders: the count of arenas is relaxed: a vproc that misses one that was just opened is woken for
// its first work, like any sleeper. All else is under the lock.
#include "nopal/sched/arenas.h"

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/vproc/ready_queues.h"
#include "nopal/vproc/table.h"

#include <algorithm>
#include <vector>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

base::spin_lock lock;
base::atomic<std::size_t> count{0};

// Under the lock. Never destroyed: vprocs look at it as long as the process lives.
std::vector<group*>& open_ones() {
  static auto* const all = new std::vector<group*>;
  return *all;
}

bool has_members(const group* one) noexcept {
  const base::locked guard{lock};
  return one->members != 0;
}

} // namespace

void open_arena(group* one, unsigned places) noexcept {
  const base::locked guard{lock};
  one->places = places;
  open_ones().push_back(one);
  count.store(open_ones().size(), base::relaxed);
}

void close_arena(group* one) noexcept {
  if (!one->closed)
    return;
  {
    const base::locked guard{lock};
    std::erase(open_ones(), one);
    count.store(open_ones().size(), base::relaxed);
  }
  for (unsigned tries = 1; has_members(one); ++tries)
    base::wait_briefly(tries);
}

group* take_place(std::size_t& from) noexcept {
  if (from >= count.load(base::relaxed))
    return nullptr;
  const base::locked guard{lock};
  for (; from < open_ones().size(); ++from) {
    group* const one = open_ones()[from];
    if (one->places == 0)
      continue;
    --one->places;
    ++one->members;
    return one;
  }
  return nullptr;
}

bool has_place(const group* one) noexcept {
  const base::locked guard{lock};
  return one->places != 0;
}

void give_place_back(group* of) noexcept {
  const base::locked guard{lock};
  ++of->places;
  --of->members;
}

bool arena_has_work(worker* self) noexcept {
  if (self->host->bound != nullptr || self->host->spare.get())
    return false;
  bool found = false;
  for (std::size_t i = 0; group* const one = take_place(i); ++i) {
    found = vproc::suspended.has_work(one) || vproc::any_ready_of(one) ||
            vproc::any_other_worker(
                self, [one](worker* each) { return each->deque.has_work(name_of(one)); });
    give_place_back(one);
    if (found)
      break;
  }
  return found;
}

} // namespace nopal::inline NOPAL_ABI::sched
