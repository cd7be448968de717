// SPDX-License-Identifier: MIT
// mremap. Memory is copied, since its place in the arena follows from its address; a file's mapping
// is moved, in each process.
#include "nopal/mapped/calls.h"

#include "nopal/config.h"
#include "nopal/mapped/log.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/places.h"
#include "nopal/mapped/sharing.h"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

// What this mapping of the arena's file shows of [from, end), to where `from` is to be; what was
// never written stays so.
void copy_memory(const mapping& shown, std::uintptr_t end, std::uintptr_t to,
                 std::uintptr_t from) noexcept {
  const std::uintptr_t low = std::max(from, shown.from);
  const long begin = static_cast<long>(shown.offset + (low - shown.from));
  const long limit = begin + static_cast<long>(std::min(end, shown.to) - low);
  to += low - from;
  for (long data = begin;;) {
    data = raw(SYS_lseek, memory_file, data, SEEK_DATA);
    if (data < 0 || data >= limit)
      return;
    const long hole = std::min(limit, raw(SYS_lseek, memory_file, data, SEEK_HOLE));
    while (data < hole) {
      const long done = raw(SYS_pread64, memory_file, to + static_cast<std::size_t>(data - begin),
                            hole - data, data);
      if (done <= 0)
        return;
      data += done;
    }
  }
}

bool is_copied(std::uintptr_t at) noexcept {
  bool copied = false;
  images.each(at, 1, [&](const piece& each) { copied = (each.image & is_copy) != 0; });
  return copied;
}

// Where memory lies at its own address, no list of the kernel's is read. Memory is one mapping to
// the program, of however many parts of the arena, and so is a copy with what is behind its end.
bool find(std::uintptr_t at, std::size_t bytes, mapping& found) noexcept {
  if (!is_plain(at, bytes) || forbidden.touch(at, bytes)) {
    open_mappings all;
    mapping each{};
    while (all.next(each) && each.to <= at) {
    }
    if (each.from > at || each.to <= at)
      return false;
    found = each;
    found.name = is_memory(each) ? memory_name_there : "";
    const bool copied = is_copied(at);
    const auto goes_on = [&] {
      return is_memory(each) || (copied && each.name.starts_with(memory_name_there));
    };
    while (goes_on() && all.next(each) && goes_on() && each.from == found.to &&
           each.access == found.access)
      found.to = each.to;
    return true;
  }
  found = {at, at + bytes, all_rights, true, at - layout::arena, true, memory_name_there};
  return true;
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

long move_memory(const remapping& asked, int access, std::uintptr_t to) noexcept {
  if (const long mapped = map_memory(to, asked.bytes, all_rights); is_error(mapped))
    return mapped;
  const std::uintptr_t end = asked.at + asked.before;
  mapping each{asked.at, end, 0, true, asked.at - layout::arena, true, {}};
  if (is_plain(asked.at, asked.before))
    copy_memory(each, end, to, asked.at);
  else
    for (open_mappings all; all.next(each) && each.from < end;)
      if (each.to > asked.at)
        copy_memory(each, end, to, asked.at);
  if (access != all_rights)
    change_rights(to, asked.bytes, access);
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

long move_copy(const remapping& asked, int access, std::uintptr_t to) noexcept {
  if ((access & PROT_READ) == 0)
    raw(SYS_mprotect, asked.at, asked.before, PROT_READ);
  const long moved = map_copy(asked.at, to, asked.bytes, access);
  if (!is_error(moved))
    unmap_all(asked.at, asked.before);
  return moved;
}

long move(const remapping& asked, const mapping& found) noexcept {
  const bool copied = is_copied(asked.at);
  ranges& zone = copied || !found.shared ? private_files : is_memory(found) ? arena : shared_files;
  std::uintptr_t to = asked.to;
  if (asked.is_fixed())
    unmap_all(to, asked.bytes);
  else if ((to = &zone == &arena ? take_plain(asked.bytes) : zone.take(asked.bytes)) == 0)
    return -ENOMEM;
  const long moved = copied             ? move_copy(asked, found.access, to)
                     : is_memory(found) ? move_memory(asked, found.access, to)
                                        : move_file(asked, to);
  if (is_error(moved) && !asked.is_fixed())
    zone.give(to, asked.bytes);
  return moved;
}

} // namespace

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
  const bool may_stay = !asked.is_fixed() && !asked.keeps();
  if (may_stay && rest.before == rest.bytes)
    return static_cast<long>(at);
  if (at + rest.before > found.to)
    return -EFAULT;
  if (is_copied(at) && (asked.keeps() || rest.bytes > rest.before))
    return -ENOMEM; // what the file has is not known any more
  if (may_stay && rest.before != 0) {
    const long grown = grow_in_place(rest, found);
    if (!is_error(grown) || !asked.may_move())
      return grown;
  }
  return move(rest, found);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
