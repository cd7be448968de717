// SPDX-License-Identifier: MIT
// Anonymous memory is a part of the arena, which all processes have mapped. Mappings of files are
// logged. A private one that is writable becomes a copy in shared memory, its *image*.
#include "nopal/mapped/calls.h"

#include "nopal/base/spin_lock.h"
#include "nopal/mapped/log.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/ranges.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/signals.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace nopal::mapped {
namespace {

constexpr int kAll = PROT_READ | PROT_WRITE;
constexpr int kFixed = MAP_FIXED | MAP_FIXED_NOREPLACE;

struct {
  base::spin_lock lock;
  std::uintptr_t begin = 0, now = 0, end = 0;
} constinit the_break;

bool is_private_to_process(std::uintptr_t at) noexcept {
  return at - layout::own < layout::own_bytes || layout::view_end - 1 - at < layout::view_room;
}
bool is_in_break(std::uintptr_t at) noexcept {
  return at - the_break.begin < the_break.end - the_break.begin;
}
bool is_plain(std::uintptr_t at) noexcept { return arena.hold(at) || is_in_break(at); }
bool is_error(long result) noexcept { return result < 0 && result >= -4095; }

// Of shared memory that is mapped twice, as the break is, the place in the arena.
std::uintptr_t in_arena(std::uintptr_t at) noexcept {
  return is_in_break(at) ? images.image_of(at) : at;
}
void drop(std::uintptr_t at, std::size_t bytes) noexcept { drop_pages(in_arena(at), bytes); }

// Whether rights of this shared memory had been taken away. Now they have not.
bool permit(std::uintptr_t at, std::size_t bytes) noexcept {
  bool some = false;
  forbidden.cut(at, bytes, [&](piece&) { some = true; });
  if (some)
    log_change({.what = change::kind::protect, .access = kAll, .at = at, .bytes = up(bytes)});
  return some;
}

void give_images(std::uintptr_t at, std::size_t bytes) noexcept {
  images.cut(at, bytes, [](piece& each) { give_memory(each.image, each.end - each.at); });
}

// `replaces`: other processes may have mapped what was there before. They would not fault, and not
// see what is there now.
long map_image(std::uintptr_t at, std::size_t bytes, int access, std::uintptr_t image,
               bool replaces = true) noexcept {
  const long mapped = log_change({.what = change::kind::map,
                                  .access = access,
                                  .flags = MAP_SHARED,
                                  .descriptor = memory_file,
                                  .at = at,
                                  .bytes = bytes,
                                  .where = image - layout::arena});
  if (is_error(mapped))
    return give_memory(image, bytes), mapped;
  if (replaces)
    make_all_catch_up(); // before the memory of an older image is used again
  give_images(at, bytes);
  images.add(at, bytes, image);
  return mapped;
}

// A real file: also memory that is to be shared with children.
long map_file(std::uintptr_t at, std::size_t bytes, int access, int flags, int file,
              long offset) noexcept {
  const long kept = raw(SYS_fcntl, file, 1030 /* F_DUPFD_CLOEXEC */, first_descriptor);
  if (kept < 0)
    return kept;
  const long mapped = log_change({.what = change::kind::map,
                                  .access = access,
                                  .flags = flags & MAP_TYPE,
                                  .descriptor = static_cast<int>(kept),
                                  .at = at,
                                  .bytes = bytes,
                                  .where = static_cast<std::uintptr_t>(offset)});
  if (is_error(mapped))
    raw(SYS_close, kept);
  return mapped;
}

void read_into(std::uintptr_t part, std::size_t bytes, int file, long offset) noexcept {
  for (std::size_t done = 0; done < bytes;) {
    const long got =
        raw(SYS_pread64, file, part + done, bytes - done, offset + static_cast<long>(done));
    if (got <= 0)
      break;
    done += static_cast<std::size_t>(got);
  }
}

// The C library maps its arenas and the stacks of threads with one of these flags and without
// rights, and grants them piece by piece. All processes would have to be told each time.
constexpr int kGrantedLater = MAP_NORESERVE | MAP_STACK;

long map_anonymous(std::uintptr_t at, std::size_t bytes, int access, int flags) noexcept {
  if ((flags & (MAP_HUGETLB | MAP_32BIT)) != 0)
    return -ENOMEM;
  if ((flags & kFixed) == 0) {
    at = arena.take(bytes);
    if (at == 0)
      return -ENOMEM;
  } else if (!is_plain(at)) {
    return map_image(at, bytes, access, take_memory(bytes));
  } else if ((flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE) {
    return -EEXIST;
  } else {
    drop(at, bytes);
    permit(at, bytes);
  }
  if (access != kAll && ((access & PROT_EXEC) != 0 || (flags & kGrantedLater) == 0))
    protect(at, bytes, access);
  return static_cast<long>(at);
}

long map_shared_with_children(std::size_t bytes, int access) noexcept {
  const int file = new_memory_file("nopal-shared");
  if (file < 0)
    return file;
  raw(SYS_ftruncate, file, bytes);
  const std::uintptr_t at = shared_files.take(bytes);
  const long mapped = map_file(at, bytes, access, MAP_SHARED, file, 0);
  raw(SYS_close, file);
  return mapped;
}

long map_opened(std::uintptr_t at, std::size_t bytes, int access, int flags, int file,
                long offset) noexcept {
  const bool is_private = (flags & MAP_TYPE) == MAP_PRIVATE;
  const bool chosen = (flags & kFixed) == 0;
  ranges& zone = is_private ? private_files : shared_files;
  if (chosen)
    at = zone.take(bytes + page); // a page that stays free, as a guard
  if (at == 0)
    return -ENOMEM;
  long mapped = 0;
  if (is_private && (access & PROT_WRITE) != 0) {
    const std::uintptr_t image = take_memory(bytes);
    read_into(image, bytes, file, offset);
    mapped = map_image(at, bytes, access, image, !chosen);
  } else {
    mapped = map_file(at, bytes, access, flags, file, offset);
    if (!chosen && !is_error(mapped))
      make_all_catch_up();
  }
  if (is_error(mapped) && chosen)
    zone.give(at, bytes + page);
  return mapped;
}

// What is where nothing may be must be found out first, as the log's mappings replace.
long probe(std::uintptr_t at, std::size_t bytes) noexcept {
  return raw(SYS_mmap, at, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
}

// A private mapping of a file that is to be written: what it shows becomes an image.
long make_writable(std::uintptr_t at, std::size_t bytes, int access) noexcept {
  const std::uintptr_t image = take_memory(bytes);
  raw(SYS_pwrite64, memory_file, at, bytes, offset_of(image));
  const long mapped = map_image(at, bytes, access, image);
  return is_error(mapped) ? mapped : 0;
}

} // namespace

long map(std::uintptr_t at, std::size_t bytes, int access, int flags, int file,
         long offset) noexcept {
  if (bytes == 0 || bytes > layout::arena_bytes)
    return bytes == 0 ? -EINVAL : -ENOMEM;
  bytes = up(bytes);
  const bool fixed = (flags & kFixed) != 0;
  if (fixed && at % page != 0)
    return -EINVAL;
  if (fixed && is_private_to_process(at))
    return raw(SYS_mmap, at, bytes, access, flags, file, offset);
  if ((flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE && !is_plain(at))
    if (const long there = probe(at, bytes); is_error(there))
      return there;
  if ((flags & MAP_ANONYMOUS) == 0)
    return map_opened(at, bytes, access, flags, file, offset);
  if ((flags & MAP_TYPE) != MAP_PRIVATE && !fixed)
    return map_shared_with_children(bytes, access);
  return map_anonymous(at, bytes, access, flags);
}

long unmap(std::uintptr_t at, std::size_t bytes) noexcept {
  if (bytes == 0 || at % page != 0)
    return -EINVAL;
  bytes = up(bytes);
  if (is_private_to_process(at))
    return raw(SYS_munmap, at, bytes);
  if (is_plain(at)) {
    drop(at, bytes);
    permit(at, bytes);
    if (arena.hold(at))
      arena.give(at, bytes);
    return 0;
  }
  give_images(at, bytes);
  const bool in_zone = private_files.hold(at) || shared_files.hold(at);
  const auto what = in_zone ? change::kind::unmap : change::kind::release;
  return std::min(0l, log_change({.what = what, .at = at, .bytes = bytes}));
}

// Taking rights away holds for all when this returns; what is given is mapped at the next fault.
long protect(std::uintptr_t at, std::size_t bytes, int access) noexcept {
  if (at % page != 0)
    return -EINVAL;
  bytes = up(bytes);
  if (is_private_to_process(at))
    return raw(SYS_mprotect, at, bytes, access);
  if (private_files.hold(at) && (access & PROT_WRITE) != 0 && images.image_of(at) == 0)
    return make_writable(at, bytes, access);
  if (is_plain(at) && access == kAll)
    return permit(at, bytes), 0;
  const long result =
      log_change({.what = change::kind::protect, .access = access, .at = at, .bytes = bytes});
  if (is_plain(at) && (access & kAll) != kAll && result == 0) {
    forbidden.cut(at, bytes, [](piece&) {});
    forbidden.add(at, bytes, 0);
    make_all_catch_up();
  }
  return result;
}

long remap(std::uintptr_t at, std::size_t before, std::size_t bytes, int flags) noexcept {
  before = up(before);
  bytes = up(bytes);
  if (at % page != 0 || bytes == 0 || before == 0)
    return -EINVAL;
  const bool in_zone = private_files.hold(at) || shared_files.hold(at);
  if ((flags & ~MREMAP_MAYMOVE) != 0 || (!arena.hold(at) && !in_zone))
    return -ENOMEM;
  if (bytes <= before) {
    if (bytes < before)
      unmap(at + bytes, before - bytes);
    return static_cast<long>(at);
  }
  if ((flags & MREMAP_MAYMOVE) == 0)
    return -ENOMEM;
  if (in_zone) {
    ranges& zone = private_files.hold(at) ? private_files : shared_files;
    const std::uintptr_t place = zone.take(bytes + page);
    images.cut(at, before, [=](piece& each) {
      images.add(each.at - at + place, each.end - each.at, each.image);
    });
    return log_change({.what = change::kind::move,
                       .at = at,
                       .bytes = bytes,
                       .where = place,
                       .bytes_before = before});
  }
  const std::uintptr_t fresh = arena.take(bytes);
  if (fresh == 0)
    return -ENOMEM;
  std::memcpy(reinterpret_cast<void*>(fresh), reinterpret_cast<const void*>(at), before);
  unmap(at, before);
  return static_cast<long>(fresh);
}

long advise(std::uintptr_t at, std::size_t bytes, int advice) noexcept {
  const bool drops = advice == MADV_DONTNEED || advice == MADV_FREE || advice == dont_need_locked;
  if (!is_plain(at))
    return raw(SYS_madvise, at, bytes, advice);
  if (advice == install_guard_advice || at % page != 0)
    return -EINVAL; // a guard would hold for this process alone
  if (!drops)
    return raw(SYS_madvise, at, bytes, advice);
  drop(at, bytes);
  return 0;
}

void open_break() noexcept {
  const auto now = static_cast<std::uintptr_t>(raw(SYS_brk, 0));
  the_break.begin = the_break.now = the_break.end = up(now);
  constexpr std::size_t room = 64 * layout::gib;
  const std::uintptr_t part = take_memory(room);
  const long got =
      raw(SYS_mmap, the_break.begin, room, kAll, MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
          memory_file, offset_of(part));
  if (got != static_cast<long>(the_break.begin))
    return give_memory(part, room); // then the break stays where it is
  raw(SYS_madvise, the_break.begin, room, MADV_DONTDUMP);
  images.add(the_break.begin, room, part);
  the_break.end = the_break.begin + room;
  the_break.now = now;
}

long change_break(std::uintptr_t to) noexcept {
  const base::locked guard{the_break.lock};
  if (to >= the_break.begin && to <= the_break.end) {
    if (up(to) < up(the_break.now))
      drop(up(to), up(the_break.now) - up(to));
    the_break.now = to;
  }
  return static_cast<long>(the_break.now);
}

namespace {

// All of these lists, in the order in which their locks are taken.
constexpr base::spin_lock* kLocks[] = {
    &the_break.lock,      &images.lock(), &forbidden.lock(), &private_files.lock(),
    &shared_files.lock(), &arena.lock(),  &spares.lock(),    &actions_lock};

} // namespace

void hold_mappings() noexcept {
  hold_log();
  for (base::spin_lock* const each : kLocks)
    each->lock();
}

void release_mappings() noexcept {
  std::for_each(std::rbegin(kLocks), std::rend(kLocks), [](auto* each) { each->unlock(); });
  release_log();
}

} // namespace nopal::mapped
