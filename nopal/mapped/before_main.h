// SPDX-License-Identifier: MIT
// What start.cc does before any constructor of the program, while no other thread runs.
#pragma once

#include "nopal/config.h"

#include <cstdint>
#include <span>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

struct text_range {
  std::uintptr_t from, to;
};
inline constexpr unsigned most_text_ranges = 128;

// What of the program's code makes system calls, and that of the C library.
struct code {
  text_range text[most_text_ranges];
  unsigned count = 0;
  text_range library[4];
  unsigned library_count = 0;
};
// False: there are too many mappings.
bool find_code(code& found) noexcept;

// The filter that traps system calls of this program. Programs that it executes inherit the filter,
// so only calls from addresses are trapped where such a program has no code. Returns 0, or the
// error: the kernel or a sandbox refuses filters.
int install_filter(std::span<const text_range> text) noexcept;

// Rewrites the calls of futex(2) in this code of the C library: most private futexes are made
// shared there, which costs no trap. What it does not find, and all if the kernel refuses, is left
// to the filter.
void rewrite_futexes(std::uintptr_t from, std::uintptr_t to) noexcept;

// The memory that the program has when it begins becomes shared, at its place, main's stack too.
void convert_memory() noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
