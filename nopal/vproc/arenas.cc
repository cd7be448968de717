// SPDX-License-Identifier: MIT
// The arenas that are open, and their places.
//
// Orders: the count of arenas is relaxed: a vproc that misses one that was just opened is woken for
// its first work, like any sleeper. All else is under the lock.
#include "nopal/vproc/arenas.h"

#include "nopal/base/atomic.h"
#include "nopal/base/per_process.h"
#include "nopal/base/spin_lock.h"
#include "nopal/vproc/ready_queues.h"
#include "nopal/vproc/table.h"

#include <vector>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

base::spin_lock lock;
base::atomic<std::size_t> open_count{0};

// Used under the lock. Never destroyed: vprocs look at it as long as the process lives.
base::per_process<std::vector<group*>> all_arenas;
std::vector<group*>& open_arenas() { return all_arenas.get(); }

NOPAL_IN_CHILD([]() noexcept {
  lock.begin_anew();
  open_count.store(0, base::relaxed);
});

// Lock held.
int free_places(const group* arena) noexcept {
  return arena->places + arena->lent - arena->members;
}

bool has_members(const group* arena) noexcept {
  const base::locked guard{lock};
  return arena->members != 0;
}

} // namespace

void open_arena(group* arena, int places) noexcept {
  const base::locked guard{lock};
  arena->places = places; // complete before the list has it
  open_arenas().push_back(arena);
  open_count.store(open_arenas().size(), base::relaxed);
}

void close_arena(group* arena) noexcept {
  if (!arena->closed)
    return;
  {
    const base::locked guard{lock};
    std::erase(open_arenas(), arena); // first: from now on `members` only falls
    open_count.store(open_arenas().size(), base::relaxed);
  }
  for (unsigned tries = 1; has_members(arena); ++tries) // they leave soon (arenas.h)
    base::wait_briefly(tries);
}

group* take_place(std::size_t& from) noexcept {
  if (from >= open_count.load(base::relaxed)) // without the lock: mostly there are none
    return nullptr;
  const base::locked guard{lock};
  for (; from < open_arenas().size(); ++from) {
    group* const arena = open_arenas()[from];
    if (free_places(arena) <= 0)
      continue;
    ++arena->members;
    return arena;
  }
  return nullptr;
}

bool has_place(const group* arena) noexcept {
  const base::locked guard{lock};
  return free_places(arena) > 0;
}
bool too_many_members(const group* arena) noexcept {
  const base::locked guard{lock};
  return free_places(arena) < 0;
}

void give_place_back(group* arena) noexcept {
  const base::locked guard{lock};
  --arena->members;
}
void lend_places(group* arena, int number) noexcept {
  const base::locked guard{lock};
  arena->lent += number;
}

bool arena_has_work(worker* self) noexcept {
  if (self->host->bound.get() != nullptr)
    return false;
  // It holds a place while it looks, so the arena's group is not used for another one meanwhile.
  bool found = false;
  for (std::size_t i = 0; group* const arena = take_place(i); ++i) {
    found = suspended.has_work(arena) || any_ready_of(arena) ||
            any_other_worker(
                self, [arena](worker* each) { return each->deque.has_work(name_of(arena)); });
    give_place_back(arena);
    if (found)
      break;
  }
  return found;
}

} // namespace nopal::inline NOPAL_ABI::vproc
