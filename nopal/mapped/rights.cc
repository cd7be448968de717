// SPDX-License-Identifier: MIT
// Rights and advice. What lies in a range is looked up where the call depends on it.
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

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

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

// MADV_FREE is for memory, MADV_REMOVE for files that are shared: where what it is not for begins.
std::uintptr_t end_of_use(std::uintptr_t at, std::uintptr_t end, int advice) noexcept {
  const bool for_memory = advice == MADV_FREE;
  if (for_memory)
    images.each(at, end - at, [&](const piece& each) {
      if ((each.image & is_copy) != 0)
        end = std::min(end, each.at);
    });
  mapping each{};
  for (open_mappings all; all.next(each) && each.from < end;)
    if (each.to > at && is_memory(each) != for_memory)
      return std::max(at, each.from);
  return end;
}

bool drops(int advice) noexcept {
  return advice == MADV_DONTNEED || advice == MADV_FREE || advice == dont_need_locked;
}

long advise_held(std::uintptr_t at, std::size_t bytes, int advice) noexcept {
  const long result = raw(SYS_madvise, at, bytes, advice == MADV_FREE ? MADV_DONTNEED : advice);
  if (drops(advice) && (result == 0 || result == -ENOMEM))
    drop(at, bytes);
  return result;
}

} // namespace

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

long advise(std::uintptr_t at, std::size_t bytes, int advice) noexcept {
  if (is_private(at, bytes))
    return raw(SYS_madvise, at, bytes, advice);
  const std::size_t whole = up(bytes);
  if (advice == install_guard_advice || at % page != 0 || at + whole < at)
    return -EINVAL; // a guard would hold for this process alone
  if (drops(advice) && is_plain(at, whole))
    return drop(at, whole), 0;
  if (advice == MADV_DONTFORK || advice == MADV_DOFORK)
    return 0; // the other processes of the program are made as by fork
  const changing held;
  if (advice != MADV_FREE && advice != MADV_REMOVE)
    return advise_held(at, whole, advice);
  const std::uintptr_t end = end_of_use(at, at + whole, advice);
  const long result = advise_held(at, end - at, advice);
  return end != at + whole && (result == 0 || result == -ENOMEM) ? -EINVAL : result;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
