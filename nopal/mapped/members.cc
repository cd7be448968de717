// SPDX-License-Identifier: MIT
// An entry keeps the memory of its twin, for the next process that takes the entry.
#include "nopal/mapped/members.h"

#include "nopal/base/die.h"
#include "nopal/base/spin_lock.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/twin.h"

#include <new>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

constinit twin* twins[most_members]{};

bool claim(unsigned number) noexcept {
  int none = 0;
  member& each = members[number];
  if (each.pid.load(base::relaxed) != 0 ||
      !each.pid.compare_exchange_strong(none, member::claimed, base::acq_rel, base::relaxed))
    return false;
  if (twins[number] == nullptr)
    twins[number] = new (reinterpret_cast<void*>(take_memory(twin::bytes))) twin;
  else if (!twins[number]->is_gone()) {
    each.pid.store(0, base::release);
    return false;
  }
  twins[number]->set_expected();
  return true;
}

} // namespace

void* seat::stack_top(bool as_twin) const noexcept {
  auto* const top = static_cast<std::byte*>(partner->stack_top());
  return as_twin ? top : top - twin::bytes / 2;
}

seat find_seat() noexcept {
  for (unsigned i = 1; i < most_members; ++i) {
    if (!claim(i))
      continue;
    for (unsigned used = members_used.load(base::relaxed);
         used <= i &&
         !members_used.compare_exchange_weak(used, i + 1, base::acq_rel, base::relaxed);) {
    }
    return {&members[i], twins[i]};
  }
  base::die("nopal::mapped runs at most %u processes; let fewer threads work (NOPAL_NUM_WORKERS)",
            most_members);
}

void prepare_seat(member* self) noexcept {
  self->applied.store(own().self->applied.load(base::relaxed), base::relaxed);
  self->attended.store(attendance::begins, base::relaxed);
  self->pid.store(member::beginning, base::release);
}

void take_seat(member* self, int pid) noexcept { self->pid.store(pid, base::release); }

void wait_for_seat(const member* self, int pid) noexcept {
  own().has_attendant.store(false, base::relaxed); // the parent's page, copied, says otherwise
  for (unsigned tries = 1; self->pid.load(base::acquire) != pid; ++tries)
    base::wait_briefly(tries);
}

bool some_begin() noexcept {
  bool some = false;
  for (unsigned i = 0; i < members_used.load(base::acquire); ++i)
    some |= members[i].pid.load(base::acquire) == member::beginning;
  return some;
}

void add_dependent(twin* parent) noexcept { parent->dependents.fetch_add(1, base::relaxed); }

void leave_seat(member& left, int pid) noexcept {
  if (!left.pid.compare_exchange_strong(pid, member::claimed, base::acq_rel, base::relaxed))
    return;
  twin& partner = *twins[&left - members];
  if (partner.dependents.load(base::relaxed) == 0)
    partner.dismiss();
  left.pid.store(0, base::release);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
