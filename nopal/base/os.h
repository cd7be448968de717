// SPDX-License-Identifier: MIT
//
// The system calls the runtime makes, each with the one meaning it is used for.
#pragma once

#include "nopal/base/atomic.h"

#include <cstddef>
#include <cstdint>

namespace nopal::base {

std::size_t page_size() noexcept;

// Reserves `bytes` of address space aligned to `alignment` (a power of two), with no access and no
// memory behind it. Null when the address space does not have it.
void* reserve(std::size_t bytes, std::size_t alignment) noexcept;

// Makes reserved memory usable; pages appear, zeroed, when touched. False when the kernel refuses.
bool commit(void* at, std::size_t bytes) noexcept;

// Reserved memory that is usable at once, whole pages, zeroed, not counted until touched.
void* map_zeroed(std::size_t bytes) noexcept;

// Gives the pages' memory back; the addresses stay valid and read as zero.
void discard(void* at, std::size_t bytes) noexcept;

// Number of pages of this range that have memory behind them.
std::size_t resident_pages(void* at, std::size_t bytes) noexcept;

// Sleeps while `word` holds `expected`; may return early. `wake_one` wakes one thread that sleeps
// there.
void futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
void futex_wake_one(atomic<std::uint32_t>& word) noexcept;

void yield_cpu() noexcept;

} // namespace nopal::base
