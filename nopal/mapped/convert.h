// SPDX-License-Identifier: MIT
// The memory that a program has when it begins becomes shared memory, at its place.
#pragma once

#include "nopal/config.h"
#include "nopal/mapped/filter.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

// What of the program's code makes system calls, and that of the C library.
struct code {
  text_range text[most_text_ranges];
  unsigned count = 0;
  text_range library[4];
  unsigned library_count = 0;
};
// False: there are too many mappings.
bool find_code(code& found) noexcept;

// Copies what is writable, main's stack too. Returns how many bytes. No other thread may run.
std::size_t convert_memory() noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
