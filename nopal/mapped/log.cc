// SPDX-License-Identifier: MIT
// A ring in shared memory. One process at a time adds to it.
//
// Orders: (C) `count` is stored with release behind an entry, and loaded with acquire before it.
//         (A) `applied` is stored with release behind the entry's use, and loaded with acquire
//         before the entry is overwritten.
#include "nopal/mapped/log.h"

#include "nopal/arch/mapped.h"
#include "nopal/base/spin_lock.h"
#include "nopal/mapped/actions.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/ranges.h"

#include <algorithm>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

namespace nopal::mapped {
namespace {

using arch::raw;

constexpr std::uint64_t kCapacity = 256;
constexpr long kPatienceSeconds = 1;

constinit change entries[kCapacity]{};
constinit base::spin_lock lock;
constinit base::atomic<std::uint64_t> count{0};
constinit std::uint64_t retired = 0; // under the lock

long forbid(std::uintptr_t at, std::size_t bytes) noexcept {
  return raw(SYS_mmap, at, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

long apply(const change& made) noexcept {
  switch (made.what) {
  case change::kind::map:
    return raw(SYS_mmap, made.at, made.bytes, made.access, made.flags | MAP_FIXED,
               made.descriptor, made.where);
  case change::kind::unmap:
    return forbid(made.at, made.bytes);
  case change::kind::release:
    return raw(SYS_munmap, made.at, made.bytes);
  case change::kind::protect:
    return raw(SYS_mprotect, made.at, made.bytes, made.access);
  case change::kind::move: {
    const long moved = raw(SYS_mremap, made.at, made.bytes_before, made.bytes,
                           MREMAP_MAYMOVE | MREMAP_FIXED, made.where);
    if (moved >= 0)
      forbid(made.at, made.bytes_before);
    return moved;
  }
  case change::kind::act:
    install_action(made.access);
  }
  return 0;
}

void free_addresses(std::uintptr_t at, std::size_t bytes) noexcept {
  for (ranges* each : {&private_files, &shared_files})
    if (each->hold(at))
      each->give(at, bytes);
}

// All processes have applied it.
void retire(const change& made) noexcept {
  if (made.what == change::kind::map && made.descriptor != memory_file)
    raw(SYS_close, made.descriptor);
  if (made.what == change::kind::unmap)
    free_addresses(made.at, made.bytes);
  if (made.what == change::kind::move)
    free_addresses(made.at, made.bytes_before);
}

void retire_what_all_have() noexcept {
  std::uint64_t least = count.load(base::relaxed);
  for_each_member([&](member& each) {
    least = std::min(least, each.applied.load(base::acquire)); // (A)
  });
  for (; retired < least; ++retired)
    retire(entries[retired % kCapacity]);
}

bool is_behind(const member& each, std::uint64_t target) noexcept {
  return each.applied.load(base::acquire) < target; // (A)
}

void ask_to_catch_up(std::uint64_t target) noexcept {
  for_each_member([&](member& each) {
    if (&each != own().self && is_behind(each, target))
      raw(SYS_kill, each.pid.load(base::relaxed), SIGSYS);
  });
}

bool some_are_behind(std::uint64_t target) noexcept {
  bool some = false;
  for_each_member([&](member& each) { some |= is_behind(each, target); });
  return some;
}

bool try_to_apply() noexcept { return own().applying.exchange(1, base::acquire) == 0; }
void end_applying() noexcept { own().applying.store(0, base::release); }

} // namespace

// Where another thread of this process applies entries, the caller's fault happens again, or not.
bool catch_up() noexcept {
  member& self = *own().self;
  bool some = false;
  while (self.applied.load(base::relaxed) != count.load(base::acquire)) { // (C)
    some = true;
    if (!try_to_apply())
      break;
    std::uint64_t next = self.applied.load(base::relaxed);
    for (; next != count.load(base::acquire); ++next) // (C)
      apply(entries[next % kCapacity]);
    self.applied.store(next, base::release); // (A)
    end_applying();
  }
  return some;
}

void hold_log() noexcept {
  lock.lock();
  for (unsigned tries = 1;; ++tries) {
    catch_up();
    if (try_to_apply()) {
      if (own().self->applied.load(base::relaxed) == count.load(base::relaxed))
        return;
      end_applying();
    }
    base::wait_briefly(tries);
  }
}

void release_log() noexcept {
  end_applying();
  lock.unlock();
}

long log_change(const change& made) noexcept {
  hold_log();
  const long result = apply(made);
  if (result >= 0 || result < -4095) {
    const std::uint64_t number = count.load(base::relaxed);
    retire_what_all_have();
    for (unsigned tries = 1; number - retired == kCapacity; ++tries) {
      ask_to_catch_up(retired + 1);
      base::wait_briefly(tries);
      retire_what_all_have();
    }
    entries[number % kCapacity] = made;
    count.store(number + 1, base::release);                 // (C)
    own().self->applied.store(number + 1, base::release); // (A)
  }
  release_log();
  return result;
}

// A process that does not catch up in time is in a system call that blocks SIGSYS meanwhile (as
// sigsuspend may); it catches up when that returns.
void make_all_catch_up() noexcept {
  const std::uint64_t target = count.load(base::acquire);
  ask_to_catch_up(target);
  timespec begin{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &begin);
  for (unsigned tries = 1; some_are_behind(target); ++tries) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec > begin.tv_sec + kPatienceSeconds)
      return;
    base::wait_briefly(tries);
  }
}

void release_own_log() noexcept { end_applying(); }

std::uint64_t logged_changes() noexcept { return count.load(base::acquire); }

bool others_have_applied(std::uint64_t changes) noexcept {
  bool some = false;
  for_each_member([&](member& each) { some |= &each != own().self && !is_behind(each, changes); });
  return some;
}

void forget_log() noexcept {
  for (; retired != count.load(base::relaxed); ++retired)
    retire(entries[retired % kCapacity]);
}

} // namespace nopal::mapped
