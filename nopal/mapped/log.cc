// SPDX-License-Identifier: MIT
// A ring in shared memory. One process at a time adds to it.
//
// Orders: (C) `count` is stored with release behind an entry, and loaded with acquire before it.
//         (A) `applied` is stored with release behind the entry's use, and loaded with acquire
//         before the entry is overwritten.
//         (S) A process stores `applying` and then loads `count`; one that logs stores `count` and
//         then loads `applying`. With seq_cst one of the two sees the other's store: the first
//         applies the new entry together with those before it, or the second waits for it.
#include "nopal/mapped/log.h"

#include "nopal/arch/mapped.h"
#include "nopal/base/spin_lock.h"
#include "nopal/mapped/calls.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/memory.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

using arch::raw;

constexpr std::uint64_t kCapacity = 256;
constexpr long kPatienceSeconds = 1;
constexpr unsigned kAsksAgain = 256;

constinit change entries[kCapacity]{};
constinit base::spin_lock lock;
constinit base::atomic<std::uint64_t> count{0};
constinit std::uint64_t retired = 0;           // under the lock
constinit base::atomic<std::uint32_t> bell{0}; // for which attendants wait

long map_here(const change& made) noexcept {
  const long mapped = raw(SYS_mmap, made.at, made.bytes, made.access, made.flags | MAP_FIXED,
                          made.descriptor, made.where);
  // With the flag that its neighbours have it becomes one mapping with them.
  const bool is_in_arena = made.descriptor == memory_file && made.at - layout::arena == made.where;
  if (is_in_arena && made.where >= layout::dumped_bytes)
    raw(SYS_madvise, made.at, made.bytes, MADV_DONTDUMP);
  return mapped;
}

long apply(const change& made) noexcept {
  switch (made.what) {
  case change::kind::map:
    return map_here(made);
  case change::kind::unmap:
    return raw(SYS_munmap, made.at, made.bytes);
  case change::kind::protect:
    return raw(SYS_mprotect, made.at, made.bytes, made.access);
  case change::kind::remap:
    return raw(SYS_mremap, made.at, made.bytes_before, made.bytes, made.flags, made.where);
  case change::kind::act:
    install_action(made.access);
  }
  return 0;
}

// All processes have applied it.
void retire(const change& made) noexcept {
  if (made.what == change::kind::map && made.descriptor != memory_file)
    raw(SYS_close, made.descriptor);
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

void ring() noexcept {
  bell.fetch_add(1, base::acq_rel);
  raw(SYS_futex, &bell, FUTEX_WAKE, std::numeric_limits<int>::max());
}

// One that begins catches up by itself, when its attendant begins. Signals are sent less and less
// often: their handlers lie one above the other on a stack, if that thread is slow.
void ask_to_catch_up(std::uint64_t target, unsigned tries) noexcept {
  bool rings = false;
  for_each_member([&](member& each) {
    if (&each == own().self || !is_behind(each, target))
      return;
    const attendance attended = each.attended.load(base::acquire);
    rings = rings || attended == attendance::there;
    // It may leave its seat now, and no number there is a process then: -1 would be all of them.
    const int pid = each.pid.load(base::acquire);
    if (attended == attendance::dismissed && std::has_single_bit(tries) && pid > 0)
      raw(SYS_kill, pid, SIGSYS);
  });
  if (rings)
    ring();
}

bool some_are_behind(std::uint64_t target) noexcept {
  bool some = false;
  for_each_member([&](member& each) { some |= is_behind(each, target); });
  return some;
}

bool try_to_apply() noexcept { return !own().self->applying.exchange(true, base::seq_cst); } // (S)

bool maps(const change& made) noexcept {
  return made.what == change::kind::map || made.what == change::kind::unmap;
}

// Other threads of this process run meanwhile. So a page goes at once from what it was to what it
// is after [number, end), without what a later entry replaces, unless it is moved before. What they
// touch too early faults.
void apply_what_stays(std::uint64_t number, std::uint64_t end) noexcept {
  const change& made = entries[number % kCapacity];
  if (!maps(made))
    return static_cast<void>(apply(made));
  const std::uintptr_t top = made.at + made.bytes;
  for (std::uintptr_t at = made.at; at < top;) {
    std::uintptr_t next = top;
    bool replaced = false;
    for (std::uint64_t later = number + 1; later < end && !replaced; ++later) {
      const change& other = entries[later % kCapacity];
      if (other.what == change::kind::remap)
        break;
      if (!maps(other) || other.at + other.bytes <= at)
        continue;
      replaced = other.at <= at;
      next = replaced ? other.at + other.bytes : std::min(next, other.at);
    }
    if (!replaced) {
      change part = made;
      part.at = at;
      part.bytes = next - at;
      part.where += at - made.at;
      apply(part);
    }
    at = next;
  }
}

} // namespace

void release_own_log() noexcept { own().self->applying.store(false, base::release); }

// Where another thread of this process applies entries, the caller's fault happens again, or not.
bool catch_up() noexcept {
  member& self = *own().self;
  bool some = false;
  while (self.applied.load(base::relaxed) != count.load(base::acquire)) { // (C)
    some = true;
    if (!try_to_apply())
      break;
    const std::uint64_t end = count.load(base::seq_cst); // (C), (S)
    for (std::uint64_t next = self.applied.load(base::relaxed); next != end; ++next)
      apply_what_stays(next, end);
    self.applied.store(end, base::release); // (A)
    release_own_log();
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
      release_own_log();
    }
    base::wait_briefly(tries);
  }
}

void release_log() noexcept {
  release_own_log();
  lock.unlock();
}

long log_change(const change& made) noexcept {
  hold_log();
  const long result = apply(made);
  if (result >= 0 || result < -4095 || made.what == change::kind::protect) {
    const std::uint64_t number = count.load(base::relaxed);
    retire_what_all_have();
    for (unsigned tries = 1; number - retired == kCapacity; ++tries) {
      ask_to_catch_up(retired + 1, tries);
      base::wait_briefly(tries);
      retire_what_all_have();
    }
    entries[number % kCapacity] = made;
    count.store(number + 1, base::seq_cst);               // (C), (S)
    own().self->applied.store(number + 1, base::release); // (A)
  }
  release_log();
  return result;
}

// A process that does not catch up in time is about to end, or, without an attendant, in a system
// call that blocks SIGSYS meanwhile (as sigsuspend may); it catches up when that returns.
void make_all_catch_up() noexcept {
  const std::uint64_t target = count.load(base::acquire);
  timespec begin{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &begin);
  for (unsigned tries = 1; some_are_behind(target); ++tries) {
    if (tries % kAsksAgain == 1) // again: a thread leaves it to another one that applies less
      ask_to_catch_up(target, tries / kAsksAgain + 1);
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec > begin.tv_sec + kPatienceSeconds)
      return;
    base::wait_briefly(tries);
  }
}

// (C) The bell rings after an entry was counted.
void attend_to_log() noexcept {
  constexpr std::uint64_t all_but_faults =
      ~(std::uint64_t{1} << (SIGSEGV - 1) | std::uint64_t{1} << (SIGBUS - 1));
  raw(SYS_rt_sigprocmask, SIG_SETMASK, &all_but_faults, nullptr, sizeof all_but_faults);
  for (;;) {
    const std::uint32_t rung = bell.load(base::acquire);
    catch_up();
    if (!own().has_attendant.load(base::acquire))
      raw(SYS_exit, 0);
    raw(SYS_futex, &bell, FUTEX_WAIT, rung, nullptr);
  }
}

bool claim_attendant() noexcept { return !own().has_attendant.exchange(true, base::acq_rel); }
void note_attendant() noexcept { own().self->attended.store(attendance::there, base::release); }

void dismiss_attendant() noexcept {
  own().self->attended.store(attendance::dismissed, base::release);
  own().has_attendant.store(false, base::release);
  ring();
}

void forget_log() noexcept {
  for (; retired != count.load(base::relaxed); ++retired)
    retire(entries[retired % kCapacity]);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
