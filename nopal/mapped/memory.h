// SPDX-License-Identifier: MIT
// Shared memory: parts of the arena, and the file behind it.
#pragma once

#include "nopal/config.h"
#include "nopal/mapped/layout.h"
#include "nopal/mapped/ranges.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

// The arena's file. Its number is high, as are those of descriptors that the log keeps: from
// first_descriptor on, where programs have none.
inline constinit int memory_file = -1;
inline constinit int first_descriptor = -1;
inline constexpr const char* memory_name = "nopal-mapped";

// Makes the file and reserves all ranges of addresses. Null, or what is refused; errno says why.
const char* open_memory() noexcept;
void close_memory() noexcept; // after open_memory, if the program is to run on threads
// Makes a file without a place in any folder, named for those who look at its mappings. Negative:
// the error.
int new_memory_file(const char* name) noexcept;

inline long offset_of(std::uintptr_t in_arena) noexcept {
  return static_cast<long>(in_arena - layout::arena);
}
// Zeroed memory; without addresses the program ends.
std::uintptr_t take_memory(std::size_t bytes) noexcept;
// Frees pages: they read as zero. Precondition: they lie in the arena.
void drop_pages(std::uintptr_t at, std::size_t bytes) noexcept;
void give_memory(std::uintptr_t at, std::size_t bytes) noexcept; // and their addresses

// Maps a part of the arena again, in this process alone. The kernel's result.
long map_part(std::uintptr_t part, std::uintptr_t at, std::size_t bytes, int access,
              int more_flags = 0) noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
