// SPDX-License-Identifier: MIT
// What lies where. In each process that has caught up with the log an address has one of these:
//
//   memory    a page of the arena's file, at its own address or, elsewhere, as part of an image
//   a file    another file's page
//   nothing   an access faults
//
// The kernel knows it for a process, and the lists of ranges.h say which memory is used for what.
// Whoever changes one changes the other, under one lock.
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/mapped/layout.h"
#include "nopal/mapped/proc_maps.h"
#include "nopal/mapped/ranges.h"

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

inline constexpr int all_rights = PROT_READ | PROT_WRITE;

// While it lives, no other thread changes what lies where, and this process has caught up.
class changing {
public:
  changing() noexcept;
  ~changing();
  changing(const changing&) = delete;
  changing& operator=(const changing&) = delete;
};
inline constinit base::spin_lock places_lock;

inline bool is_error(long result) noexcept { return result < 0 && result >= -4095; }

// Of what each process maps as it likes: all of a range, or a part.
bool is_private(std::uintptr_t at, std::size_t bytes) noexcept;
bool touches_private(std::uintptr_t at, std::size_t bytes) noexcept;

// The part of a range that lies in another one.
struct extent {
  std::uintptr_t at;
  std::size_t bytes; // 0: there is none
};
extent part_in(std::uintptr_t from, std::size_t room, std::uintptr_t at,
               std::size_t bytes) noexcept;
inline extent part_in_arena(std::uintptr_t at, std::size_t bytes) noexcept {
  return part_in(layout::arena, layout::arena_bytes, at, bytes);
}

// Memory at its own address, all of it.
bool is_plain(std::uintptr_t at, std::size_t bytes) noexcept;
bool is_nothing(std::uintptr_t at, std::size_t bytes) noexcept;

// Whether a mapping of this process shows the arena's memory.
bool is_memory(const mapping& found) noexcept;
inline constexpr const char* memory_name_there = "/memfd:nopal-mapped";

// Addresses for memory, which is zero; 0: there are none.
std::uintptr_t take_plain(std::size_t bytes) noexcept;

// The lists follow what was logged for a range. All processes must have caught up: the memory that
// was mapped there is free now.
enum class becomes { nothing, memory_of_its_own, something_else };
void settle(std::uintptr_t at, std::size_t bytes, becomes what) noexcept;

// Memory in a range is zero now, but for copies of files.
void drop(std::uintptr_t at, std::size_t bytes) noexcept;

// Maps a part of the arena elsewhere, or a place behind the end of the memory's file, where an
// access is a SIGBUS; in all processes.
long show(std::uintptr_t part, std::uintptr_t at, std::size_t bytes, int access) noexcept;
inline constexpr std::uintptr_t beyond_memory = layout::arena + layout::arena_bytes;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
