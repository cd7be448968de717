// SPDX-License-Identifier: MIT
// Where everything lies. The addresses are fixed, and the same in every process; each lies where
// the kernel puts nothing by itself.
//
//   arena           all shared memory, a file without a name: byte a lies at offset a - arena. What
//                   was writable when the program began, and what libraries write, is mapped again
//                   at its own address.
//   own             a page and a stack that are private to each process
//   private_files   addresses for private mappings of files
//   shared_files    addresses for shared mappings of files: at first nothing is there
//   view            each process maps what it likes
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped::layout {

constexpr std::size_t gib = std::size_t{1} << 30;

inline constexpr std::uintptr_t arena = 0x1000'0000'0000, arena_bytes = 8192 * gib;
inline constexpr std::uintptr_t own = 0x1f00'0000'0000, own_bytes = std::size_t{256} << 10;
inline constexpr std::uintptr_t files_bytes = 1024 * gib;
inline constexpr std::uintptr_t private_files = 0x2000'0000'0000;
inline constexpr std::uintptr_t shared_files = private_files + files_bytes;
inline constexpr std::uintptr_t view_end = 0x2f00'0000'0000, view_room = 2 * gib;

// Core files contain this much of the arena: to write a sparse part would allocate it.
inline constexpr std::size_t dumped_bytes = std::size_t{64} << 20;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped::layout
NOPAL_HIDDEN_END
