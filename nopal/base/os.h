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

// How many bytes of addresses the limit on virtual memory (RLIMIT_AS) leaves to this process; all
// there are, where there is no limit.
std::size_t address_space_left() noexcept;

// Makes reserved memory usable; pages appear, zeroed, when touched. False when the kernel refuses.
bool commit(void* at, std::size_t bytes) noexcept;

// How many mappings the kernel lets a process have (vm.max_map_count); 65530, the usual number,
// where it does not say.
std::size_t max_mappings() noexcept;

// Reserved memory that is usable at once, whole pages, zeroed, not counted until touched.
void* map_zeroed(std::size_t bytes) noexcept;

// Gives the pages' memory back, also if it is locked (mlockall); the addresses stay valid and read
// as zero.
void discard(void* at, std::size_t bytes) noexcept;

// Number of pages of this range that have memory behind them.
std::size_t resident_pages(void* at, std::size_t bytes) noexcept;
// The same for each of at most 64 pages: bit i stands for the i-th from `at`. All of them where the
// kernel does not say.
std::uint64_t which_resident(std::uintptr_t at, std::size_t pages) noexcept;

// Sleeps while `word` holds `expected`; may return early. `wake_one` wakes one thread that sleeps
// there.
void futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
void futex_wake_one(atomic<std::uint32_t>& word) noexcept;

void yield_cpu() noexcept;
void sleep_us(unsigned microseconds) noexcept;
// The clock of the processor, in cycles of a constant rate.
inline std::uint64_t cycles() noexcept { return __builtin_ia32_rdtsc(); }

// Keeps the shared library that this code lies in loaded until the process ends, also if the
// program closes it (dlclose). Nothing needs to be done where the code is the program's own. Null,
// or why it failed. Takes the dynamic linker's lock.
const char* pin_this_library() noexcept;

// The lowest address of the stack that the system gave to the calling thread, the main thread's
// when it has grown as far as it may; 0 where that cannot be found out.
std::uintptr_t lowest_of_own_stack() noexcept;

// errno, in functions of their own: compilers keep its place across calls after which a strand is
// on another thread.
const int* this_threads_error() noexcept;
void set_error(int value) noexcept;
// Of another thread, which may be writing it.
int read_error(const int* place) noexcept;

} // namespace nopal::base
