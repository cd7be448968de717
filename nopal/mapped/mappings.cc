// SPDX-License-Identifier: MIT
// Anonymous memory is a part of the arena, which all processes have mapped. Mappings of files are
// logged. A private one that is writable becomes a copy in shared memory, its *image*.
#include "nopal/mapped/calls.h"

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/mapped/log.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/places.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/signals.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

constexpr int kFixed = MAP_FIXED | MAP_FIXED_NOREPLACE;

struct {
  base::spin_lock lock;
  std::uintptr_t begin = 0, now = 0, end = 0;
} constinit the_break;

// A range of the program's that is to be mapped. Nothing was there, if `at` was `chosen` here.
struct place {
  std::uintptr_t at;
  std::size_t bytes;
  bool chosen;
};

// The C library maps its arenas and the stacks of threads with one of these flags and without
// rights, and grants them piece by piece. All processes would have to be told each time.
constexpr int kGrantedLater = MAP_NORESERVE | MAP_STACK;

int rights_of_memory(int access, int flags) noexcept {
  return (flags & kGrantedLater) != 0 && access == PROT_NONE ? all_rights : access;
}

long map_image(std::uintptr_t at, std::size_t bytes, int access) noexcept {
  const std::uintptr_t image = take_plain(bytes);
  if (image == 0)
    return -ENOMEM;
  const long mapped = show(image, at, bytes, access);
  if (is_error(mapped))
    return give_memory(image, bytes), mapped;
  make_all_catch_up(); // before the memory of an older image is used again
  settle(at, bytes, becomes::something_else);
  images.add(at, bytes, image);
  return mapped;
}

// Where memory lies at its own address already, only its contents and rights change.
long map_plain(std::uintptr_t at, std::size_t bytes, int access) noexcept {
  if (is_plain(at, bytes)) {
    arena.claim(at, bytes);
    drop_pages(at, bytes);
    change_rights(at, bytes, access);
    return static_cast<long>(at);
  }
  const long mapped = show(at, at, bytes, access);
  if (is_error(mapped))
    return mapped;
  make_all_catch_up();
  settle(at, bytes, becomes::memory_of_its_own);
  if (access != all_rights)
    forbidden.add(at, bytes, static_cast<std::uintptr_t>(access));
  return mapped;
}

// A real file: also memory that is to be shared with children.
long map_file(const place& to, int access, int flags, int file, long offset) noexcept {
  const long kept = raw(SYS_fcntl, file, 1030 /* F_DUPFD_CLOEXEC */, first_descriptor);
  if (kept < 0)
    return kept;
  const long mapped = log_change({.what = change::kind::map,
                                  .access = access,
                                  .flags = flags & ~(kFixed | MAP_32BIT | MAP_POPULATE),
                                  .descriptor = static_cast<int>(kept),
                                  .at = to.at,
                                  .bytes = to.bytes,
                                  .where = static_cast<std::uintptr_t>(offset)});
  if (is_error(mapped))
    return raw(SYS_close, kept), mapped;
  make_all_catch_up(); // a system call of another process would not find it
  if (!to.chosen)
    settle(to.at, to.bytes, becomes::something_else);
  return mapped;
}

long map_shared_with_children(const place& to, int access) noexcept {
  const int file = new_memory_file("nopal-shared");
  if (file < 0)
    return file;
  raw(SYS_ftruncate, file, to.bytes);
  const long mapped = map_file(to, access, MAP_SHARED, file, 0);
  raw(SYS_close, file);
  return mapped;
}

// Pages that would show nothing of the file's are a SIGBUS in the copy, too.
std::size_t copy_pages(std::uintptr_t source, std::uintptr_t to, std::size_t bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    const long got =
        raw(SYS_pwrite64, memory_file, source + done, bytes - done, offset_of(to + done));
    if (got <= 0)
      break;
    done += static_cast<std::size_t>(got);
  }
  return up(done);
}

// Elsewhere in this process the file is only looked at: the kernel finds the errors.
long map_opened_privately(const place& to, int access, int flags, int file, long offset) noexcept {
  const long seen = raw(SYS_mmap, 0, to.bytes, access | PROT_READ, flags & ~(kFixed | MAP_POPULATE),
                        file, offset);
  if (is_error(seen))
    return seen;
  const long mapped = map_copy(static_cast<std::uintptr_t>(seen), to.at, to.bytes, access);
  raw(SYS_munmap, seen, to.bytes);
  return mapped;
}

long map_opened(place to, int access, int flags, int file, long offset) noexcept {
  const bool is_copied = (flags & MAP_TYPE) == MAP_PRIVATE && (access & PROT_WRITE) != 0;
  ranges& zone = (flags & MAP_TYPE) == MAP_PRIVATE ? private_files : shared_files;
  if (to.chosen && (to.at = zone.take(to.bytes)) == 0)
    return -ENOMEM;
  const long mapped = (flags & MAP_ANONYMOUS) != 0 ? map_shared_with_children(to, access)
                      : is_copied ? map_opened_privately(to, access, flags, file, offset)
                                  : map_file(to, access, flags, file, offset);
  if (is_error(mapped) && to.chosen)
    zone.give(to.at, to.bytes);
  return mapped;
}

// Where the program asks for a place of a kind, or where nothing may be replaced. Negative: an
// error.
long choose(place& to, int flags) noexcept {
  if ((flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE)
    return is_nothing(to.at, to.bytes) ? 0 : -EEXIST;
  if ((flags & MAP_FIXED) != 0)
    return 0;
  to.chosen = true;
  if ((flags & MAP_32BIT) != 0) {
    const long low = raw(SYS_mmap, 0, to.bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
    if (is_error(low))
      return low;
    raw(SYS_munmap, low, to.bytes);
    to = {static_cast<std::uintptr_t>(low), to.bytes, false};
  } else if (const std::uintptr_t hint = up(to.at);
             hint != 0 && !touches_private(hint, to.bytes) && is_nothing(hint, to.bytes)) {
    to = {hint, to.bytes, false};
  }
  return 0;
}

} // namespace

long map_memory(std::uintptr_t at, std::size_t bytes, int access) noexcept {
  const extent own_part = part_in_arena(at, bytes);
  if (own_part.bytes == bytes)
    return map_plain(at, bytes, access);
  if (own_part.bytes == 0)
    return map_image(at, bytes, access);
  const std::uintptr_t border = own_part.at == at ? at + own_part.bytes : own_part.at;
  const long rest = map_memory(border, at + bytes - border, access);
  return is_error(rest) ? rest : map_memory(at, border - at, access);
}

long map_copy(std::uintptr_t source, std::uintptr_t at, std::size_t bytes, int access) noexcept {
  const std::uintptr_t image = take_plain(bytes);
  if (image == 0)
    return -ENOMEM;
  const std::size_t shown = copy_pages(source, image, bytes);
  long mapped = static_cast<long>(at);
  if (shown != 0)
    mapped = show(image, at, shown, access);
  if (shown != bytes && !is_error(mapped))
    mapped = show(beyond_memory, at + shown, bytes - shown, access);
  if (is_error(mapped))
    return give_memory(image, bytes), mapped;
  make_all_catch_up();
  settle(at, bytes, becomes::something_else);
  if (shown != 0)
    images.add(at, shown, image | is_copy);
  if (shown != bytes)
    give_memory(image + shown, bytes - shown);
  return static_cast<long>(at);
}

long unmap_all(std::uintptr_t at, std::size_t bytes) noexcept {
  const long result = log_change({.what = change::kind::unmap, .at = at, .bytes = bytes});
  if (is_error(result))
    return result;
  make_all_catch_up();
  settle(at, bytes, becomes::nothing);
  return 0;
}

long map(std::uintptr_t at, std::size_t bytes, int access, int flags, int file,
         long offset) noexcept {
  const int type = flags & MAP_TYPE;
  const bool is_anonymous = (flags & MAP_ANONYMOUS) != 0;
  const bool is_fixed = (flags & kFixed) != 0;
  if (offset % static_cast<long>(page) != 0 || bytes == 0 || (is_fixed && at % page != 0) ||
      (type != MAP_PRIVATE && type != MAP_SHARED && (is_anonymous || type != MAP_SHARED_VALIDATE)))
    return -EINVAL;
  if (bytes > layout::arena_bytes || (flags & MAP_HUGETLB) != 0)
    return -ENOMEM;
  bytes = up(bytes);
  if (is_fixed && is_private(at, bytes))
    return raw(SYS_mmap, at, bytes, access, flags, file, offset);
  if (is_fixed && (at + bytes < at || touches_private(at, bytes)))
    return -ENOMEM;
  const changing held;
  place to{at, bytes, false};
  if (const long chosen = choose(to, flags); is_error(chosen))
    return chosen;
  if (!is_anonymous || type != MAP_PRIVATE)
    return map_opened(to, access, flags, file, offset);
  if (to.chosen && (to.at = take_plain(bytes)) == 0)
    return -ENOMEM;
  if (!to.chosen)
    return map_memory(to.at, bytes, rights_of_memory(access, flags));
  change_rights(to.at, bytes, rights_of_memory(access, flags));
  return static_cast<long>(to.at);
}

long unmap(std::uintptr_t at, std::size_t bytes) noexcept {
  bytes = up(bytes);
  if (at % page != 0 || bytes == 0 || at + bytes < at)
    return -EINVAL;
  if (is_private(at, bytes))
    return raw(SYS_munmap, at, bytes);
  if (touches_private(at, bytes))
    return -EINVAL;
  const changing held;
  return unmap_all(at, bytes);
}

void open_break() noexcept {
  const auto now = static_cast<std::uintptr_t>(raw(SYS_brk, 0));
  the_break.begin = the_break.now = the_break.end = up(now);
  constexpr std::size_t room = 64 * layout::gib;
  const std::uintptr_t part = take_memory(room);
  const long got =
      raw(SYS_mmap, the_break.begin, room, all_rights,
          MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, memory_file, offset_of(part));
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
    &the_break.lock,       &images.lock(),       &forbidden.lock(), &covered.lock(), &holes.lock(),
    &private_files.lock(), &shared_files.lock(), &arena.lock(),     &spares.lock(),  &actions_lock};

} // namespace

void hold_mappings() noexcept {
  places_lock.lock();
  hold_log();
  for (base::spin_lock* const each : kLocks)
    each->lock();
}

void release_mappings() noexcept {
  std::for_each(std::rbegin(kLocks), std::rend(kLocks), [](auto* each) { each->unlock(); });
  release_log();
  places_lock.unlock();
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
