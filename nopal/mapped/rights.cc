// SPDX-License-Identifier: MIT
// Rights, advice, and mremap. What lies in a range is looked up where the call depends on it.
#include "nopal/mapped/calls.h"
#include "nopal/mapped/log.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/places.h"
#include "nopal/mapped/sharing.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nopal::mapped {
namespace {

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

// Of the arena's file; what was never written stays so.
void copy_memory(std::uintptr_t from, std::uintptr_t to, std::size_t bytes) noexcept {
  const long end = offset_of(from + bytes);
  for (long data = offset_of(from);;) {
    data = raw(SYS_lseek, memory_file, data, SEEK_DATA);
    if (data < 0 || data >= end)
      return;
    const long hole = std::min(end, raw(SYS_lseek, memory_file, data, SEEK_HOLE));
    while (data < hole) {
      const long done =
          raw(SYS_pread64, memory_file, to + static_cast<std::size_t>(data - offset_of(from)),
              hole - data, data);
      if (done <= 0)
        return;
      data += done;
    }
  }
}

// Private mappings of files that are to be written become images.
void make_writable(std::uintptr_t at, std::size_t bytes) noexcept {
  for (std::uintptr_t next = at; next < at + bytes;) {
    mapping found{};
    open_mappings all;
    bool some = false;
    while (!some && all.next(found))
      some = found.to > next && found.from < at + bytes && !found.shared;
    if (!some)
      return;
    const std::uintptr_t low = std::max(next, found.from), end = std::min(at + bytes, found.to);
    if ((found.access & PROT_READ) == 0)
      raw(SYS_mprotect, low, end - low, PROT_READ);
    map_copy(low, low, end - low, found.access);
    next = end;
  }
}

// Where memory lies at its own address, no list of the kernel's is read.
bool find(std::uintptr_t at, std::size_t bytes, mapping& found) noexcept {
  if (!is_plain(at, bytes) || forbidden.touch(at, bytes))
    return find_mapping(at, found);
  found = {at, at + bytes, all_rights, true, at - layout::arena, true, "/memfd:nopal-mapped"};
  return true;
}

bool has_memory(std::uintptr_t at, std::size_t bytes) noexcept {
  const extent own_part = part_in_arena(at, bytes);
  return images.touch(at, bytes) || (own_part.bytes != 0 && !covered.touch(own_part.at, bytes));
}

struct remapping {
  std::uintptr_t at;
  std::size_t before, bytes;
  int flags;
  std::uintptr_t to;

  bool is_fixed() const noexcept { return (flags & MREMAP_FIXED) != 0; }
  bool keeps() const noexcept { return (flags & MREMAP_DONTUNMAP) != 0; }
  bool may_move() const noexcept { return (flags & MREMAP_MAYMOVE) != 0; }
};

bool is_wrong(const remapping& asked) noexcept {
  const auto& [at, before, bytes, flags, to] = asked;
  if ((flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0 || at % page != 0 ||
      bytes == 0 || at + before < at ||
      ((asked.is_fixed() || asked.keeps() || before == 0) && !asked.may_move()) ||
      (asked.keeps() && before != bytes))
    return true;
  return asked.is_fixed() && (to % page != 0 || to + bytes < to ||
                              (to < at + before && at < to + bytes) || touches_private(to, bytes));
}

long grow_in_place(const remapping& asked, const mapping& found) noexcept {
  const std::uintptr_t end = asked.at + asked.before;
  const std::size_t more = asked.bytes - asked.before;
  if (found.to != end && !is_memory(found))
    return -ENOMEM;
  if (!is_nothing(end, more))
    return -ENOMEM;
  if (is_memory(found)) {
    const long grown = map_memory(end, more, found.access);
    return is_error(grown) ? grown : static_cast<long>(asked.at);
  }
  const long grown = log_change({.what = change::kind::remap,
                                 .at = asked.at,
                                 .bytes = asked.bytes,
                                 .bytes_before = asked.before});
  if (!is_error(grown))
    settle(end, more, becomes::something_else);
  return grown;
}

long move_memory(const remapping& asked, const mapping& found, std::uintptr_t to) noexcept {
  if (const long mapped = map_memory(to, asked.bytes, all_rights); is_error(mapped))
    return mapped;
  copy_memory(layout::arena + found.offset + (asked.at - found.from), to,
              std::min(asked.before, asked.bytes));
  if (found.access != all_rights)
    change_rights(to, asked.bytes, found.access);
  asked.keeps() ? drop(asked.at, asked.before)
                : static_cast<void>(unmap_all(asked.at, asked.before));
  return static_cast<long>(to);
}

long move_file(const remapping& asked, std::uintptr_t to) noexcept {
  const long moved = log_change({.what = change::kind::remap,
                                 .flags = asked.flags | MREMAP_FIXED,
                                 .at = asked.at,
                                 .bytes = asked.bytes,
                                 .where = to,
                                 .bytes_before = asked.before});
  if (is_error(moved))
    return moved;
  make_all_catch_up();
  settle(to, asked.bytes, becomes::something_else);
  if (!asked.keeps() && asked.before != 0)
    settle(asked.at, asked.before, becomes::nothing);
  return moved;
}

long move(const remapping& asked, const mapping& found) noexcept {
  ranges& zone = is_memory(found) ? arena : found.shared ? shared_files : private_files;
  std::uintptr_t to = asked.to;
  if (asked.is_fixed())
    unmap_all(to, asked.bytes);
  else if ((to = &zone == &arena ? take_plain(asked.bytes) : zone.take(asked.bytes)) == 0)
    return -ENOMEM;
  const long moved = is_memory(found) ? move_memory(asked, found, to) : move_file(asked, to);
  if (is_error(moved) && !asked.is_fixed())
    zone.give(to, asked.bytes);
  return moved;
}

} // namespace

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

long change_rights(std::uintptr_t at, std::size_t bytes, int access) noexcept {
  const bool plain = is_plain(at, bytes);
  if (plain && access == all_rights && !forbidden.touch(at, bytes))
    return 0;
  if (!plain && (access & PROT_WRITE) != 0)
    make_writable(at, bytes);
  const long result =
      log_change({.what = change::kind::protect, .access = access, .at = at, .bytes = bytes});
  if (const extent own_part = part_in_arena(at, bytes); own_part.bytes != 0) {
    forbidden.cut(own_part.at, own_part.bytes, [](piece&) {});
    if (access != all_rights)
      forbidden.add(own_part.at, own_part.bytes, static_cast<std::uintptr_t>(access) & 7);
  }
  make_all_catch_up();
  return result;
}

long protect(std::uintptr_t at, std::size_t bytes, int access) noexcept {
  if (at % page != 0)
    return -EINVAL;
  if (bytes == 0)
    return 0;
  bytes = up(bytes);
  if (at + bytes <= at)
    return -ENOMEM;
  if (is_private(at, bytes))
    return raw(SYS_mprotect, at, bytes, access);
  if (touches_private(at, bytes))
    return -ENOMEM;
  const changing held;
  return change_rights(at, bytes, access);
}

long remap(std::uintptr_t at, std::size_t before, std::size_t bytes, int flags,
           std::uintptr_t to) noexcept {
  const remapping asked{at, up(before), up(bytes), flags, to};
  if (is_wrong(asked))
    return -EINVAL;
  if (is_private(at, asked.before))
    return raw(SYS_mremap, at, before, bytes, flags, to);
  const changing held;
  mapping found{};
  if (!find(at, std::max(asked.before, page), found))
    return -EFAULT;
  if (asked.before == 0 && (!found.shared || is_memory(found)))
    return -EINVAL;
  remapping rest = asked;
  if (asked.bytes < asked.before) {
    unmap_all(at + asked.bytes, asked.before - asked.bytes);
    rest.before = asked.bytes;
  }
  if (!asked.is_fixed() && !asked.keeps()) {
    if (rest.before == rest.bytes)
      return static_cast<long>(at);
  }
  if (at + rest.before > found.to)
    return -EFAULT;
  if (!asked.is_fixed() && !asked.keeps() && rest.before != 0) {
    const long grown = grow_in_place(rest, found);
    if (!is_error(grown) || !asked.may_move())
      return grown;
  }
  return move(rest, found);
}

long advise(std::uintptr_t at, std::size_t bytes, int advice) noexcept {
  if (is_private(at, bytes))
    return raw(SYS_madvise, at, bytes, advice);
  const std::size_t whole = up(bytes);
  if (advice == install_guard_advice || at % page != 0 || at + whole < at)
    return -EINVAL; // a guard would hold for this process alone
  const bool drops = advice == MADV_DONTNEED || advice == MADV_FREE || advice == dont_need_locked;
  if (drops && is_plain(at, whole))
    return drop(at, whole), 0;
  if (advice == MADV_DONTFORK || advice == MADV_DOFORK)
    return 0; // the other processes of the program are made as by fork
  const changing held;
  if (advice == MADV_REMOVE && has_memory(at, whole))
    return -EINVAL;
  const long result = raw(SYS_madvise, at, bytes, advice == MADV_FREE ? MADV_DONTNEED : advice);
  if (drops && (result == 0 || result == -ENOMEM))
    drop(at, whole);
  return result;
}

} // namespace nopal::mapped
