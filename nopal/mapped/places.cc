// SPDX-License-Identifier: MIT
// Addresses of the arena where nothing is are used again when there are no others, all at a time:
// then all processes must have mapped its memory there, as a system call of theirs would not wait.
#include "nopal/mapped/places.h"

#include "nopal/mapped/log.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/sharing.h"

#include <algorithm>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

void fill_holes() noexcept {
  bool filled = true;
  holes.each_free([&](std::uintptr_t at, std::size_t bytes) {
    filled = filled && !is_error(show(at, at, bytes, all_rights));
  });
  if (!filled)
    return;
  make_all_catch_up();
  holes.each_free([](std::uintptr_t at, std::size_t bytes) {
    holes.claim(at, bytes);
    give_memory(at, bytes);
  });
}

bool is_within(std::uintptr_t from, std::size_t room, std::uintptr_t at,
               std::size_t bytes) noexcept {
  return at - from < room && bytes <= room - (at - from);
}

} // namespace

// Whoever holds the lock waits for the others to catch up, which the signal makes them do.
changing::changing() noexcept {
  places_lock.lock();
  hold_log();
  release_log();
}
changing::~changing() { places_lock.unlock(); }

bool is_private(std::uintptr_t at, std::size_t bytes) noexcept {
  return is_within(layout::own, layout::own_bytes, at, bytes) ||
         is_within(layout::view_end - layout::view_room, layout::view_room, at, bytes);
}

extent part_in(std::uintptr_t from, std::size_t room, std::uintptr_t at,
               std::size_t bytes) noexcept {
  const std::uintptr_t low = std::max(from, at), end = std::min(from + room, at + bytes);
  return {low, end > low ? end - low : 0};
}

bool touches_private(std::uintptr_t at, std::size_t bytes) noexcept {
  return part_in(layout::own, layout::own_bytes, at, bytes).bytes != 0 ||
         part_in(layout::view_end - layout::view_room, layout::view_room, at, bytes).bytes != 0;
}

bool is_plain(std::uintptr_t at, std::size_t bytes) noexcept {
  return is_within(layout::arena, layout::arena_bytes, at, bytes) && !covered.touch(at, bytes) &&
         !holes.touches_free(at, bytes);
}

bool is_nothing(std::uintptr_t at, std::size_t bytes) noexcept {
  if (arena.has_free(at, bytes))
    return true;
  const long there = raw(SYS_mmap, at, bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  if (is_error(there))
    return false;
  raw(SYS_munmap, there, bytes);
  return there == static_cast<long>(at);
}

bool is_memory(const mapping& found) noexcept {
  return found.shared && found.offset < layout::arena_bytes &&
         found.name.starts_with(memory_name_there);
}

std::uintptr_t take_plain(std::size_t bytes) noexcept {
  std::uintptr_t at = arena.take(bytes);
  if (at == 0) {
    fill_holes();
    at = arena.take(bytes);
  }
  return at;
}

void settle(std::uintptr_t at, std::size_t bytes, becomes what) noexcept {
  images.cut(at, bytes, [](piece& each) { give_memory(each.image & -page, each.end - each.at); });
  const auto settle_zone = [=](ranges& zone, std::uintptr_t from) {
    if (const extent part = part_in(from, layout::files_bytes, at, bytes); part.bytes != 0)
      what == becomes::nothing ? zone.give(part.at, part.bytes) : zone.claim(part.at, part.bytes);
  };
  settle_zone(private_files, layout::private_files);
  settle_zone(shared_files, layout::shared_files);
  const extent own_part = part_in_arena(at, bytes);
  if (own_part.bytes == 0)
    return;
  const auto ignore = [](piece&) {};
  for (piece_map* each : {&forbidden, &covered})
    each->cut(own_part.at, own_part.bytes, ignore);
  holes.claim(own_part.at, own_part.bytes);
  arena.claim(own_part.at, own_part.bytes);
  drop_pages(own_part.at, own_part.bytes);
  if (what == becomes::something_else)
    covered.add(own_part.at, own_part.bytes, 0);
  if (what == becomes::nothing)
    holes.give(own_part.at, own_part.bytes);
}

void drop(std::uintptr_t at, std::size_t bytes) noexcept {
  images.each(at, bytes, [](const piece& each) {
    if ((each.image & is_copy) == 0)
      drop_pages(each.image, each.end - each.at);
  });
  if (const extent own_part = part_in_arena(at, bytes); own_part.bytes != 0)
    drop_pages(own_part.at, own_part.bytes);
}

long show(std::uintptr_t part, std::uintptr_t at, std::size_t bytes, int access) noexcept {
  return log_change({.what = change::kind::map,
                     .access = access,
                     .flags = MAP_SHARED | MAP_NORESERVE,
                     .descriptor = memory_file,
                     .at = at,
                     .bytes = bytes,
                     .where = part - layout::arena});
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
