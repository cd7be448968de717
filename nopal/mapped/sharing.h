// SPDX-License-Identifier: MIT
// One process becomes several that share all memory but one range of addresses: what the views and
// the tests see of it. README.md explains how.
#pragma once

#include "nopal/arch/mapped.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

// A system call that is never trapped.
using arch::raw;

// Whether this program shares its memory; else its threads are threads.
bool on() noexcept;

// See base/shared.h.
void become_process() noexcept;
bool map_again(std::uintptr_t shared, std::uintptr_t at, std::size_t bytes, bool populate) noexcept;
bool install_guard(std::uintptr_t at, std::size_t bytes) noexcept;

// The addresses that each process maps as it likes.
struct range {
  std::uintptr_t low, end;
};
range view_range() noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped

// The linker takes the room from its archive since a program is linked with -u of this name. It is
// called before any constructor, with main's arguments.
extern "C" void nopal_mapped_start(int count, char** arguments, char** environment);
NOPAL_HIDDEN_END
