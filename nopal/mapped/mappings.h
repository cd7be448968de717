// SPDX-License-Identifier: MIT
// The system calls that change the address space, with the meaning that they have for threads. Each
// takes what the kernel takes, and returns what the kernel would.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

// The break, behind the memory that the program has begun with.
void open_break() noexcept;
long change_break(std::uintptr_t to) noexcept;

long map(std::uintptr_t at, std::size_t bytes, int access, int flags, int file,
         long offset) noexcept;
long unmap(std::uintptr_t at, std::size_t bytes) noexcept;
long protect(std::uintptr_t at, std::size_t bytes, int access) noexcept;
long remap(std::uintptr_t at, std::size_t before, std::size_t bytes, int flags) noexcept;
long advise(std::uintptr_t at, std::size_t bytes, int advice) noexcept;

// For a fork: no other process changes anything meanwhile.
void hold_mappings() noexcept;
void release_mappings() noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
