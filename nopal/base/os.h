// SPDX-License-Identifier: MIT
// The system calls the runtime makes, each with the one meaning it is used for.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::base {

constexpr std::size_t page_size() noexcept { return 4096; } // of every x86-64 processor

// Registers the process for membarrier(2)'s private expedited command (Linux 4.14). False: the
// kernel has none; then `heavy_barrier` is a plain fence, and the runtime makes every fork
// synchronise. Any thread may call this, also repeatedly.
bool enable_heavy_barrier() noexcept;

// Reserves `bytes` of address space aligned to `alignment` (a power of two), with no access and no
// memory behind it. Null when the address space does not have it.
void* reserve(std::size_t bytes, std::size_t alignment) noexcept;

// Makes reserved memory usable; pages appear, zeroed, when touched, or at once if the memory is
// locked. And takes the access away again. False: the kernel refuses, and errno says why.
bool commit(void* at, std::size_t bytes) noexcept;
bool forbid(void* at, std::size_t bytes) noexcept;

// Whether the kernel has guard regions (Linux 6.13), which need no mapping of their own. And makes
// one of committed memory; false when the kernel refuses, as it does where memory is locked.
bool has_guard_regions() noexcept;
bool install_guard(void* at, std::size_t bytes) noexcept;

// Reserves whole pages that are usable at once and zeroed. A page takes memory when touched.
void* map_zeroed(std::size_t bytes) noexcept;

// Gives the pages' memory back, even if locked (mlockall). The addresses stay and read as zero.
// False: the memory stays as it is, since it is locked and the kernel is older than Linux 5.18.
bool discard(void* at, std::size_t bytes) noexcept;

// How many pages of this range have memory; all those of a part of which the kernel does not say.
std::size_t resident_pages(void* at, std::size_t bytes) noexcept;
// Which of at most 64 pages do: bit i is the i-th from `at`. All, if the kernel does not say.
std::uint64_t which_resident(std::uintptr_t at, std::size_t pages) noexcept;

// Sleeps while `word` holds `expected`; may return early. The other wakes one that sleeps on it.
void futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
// Not beyond this time of the steady clock, in nanoseconds.
void futex_wait_until(atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::int64_t until_ns) noexcept;
void futex_wake_one(atomic<std::uint32_t>& word) noexcept;

void sleep_us(unsigned microseconds) noexcept;
// Lets other threads of the system run on this processor.
void give_way() noexcept;
// Asks the system for short turns of the calling thread, which it then gets sooner when it wakes
// up, also from a thread that computes. Before Linux 6.12 that changes nothing.
void ask_for_short_turns() noexcept;
// The clock of the processor, in cycles of a constant rate.
inline std::uint64_t cycles() noexcept { return __builtin_ia32_rdtsc(); }

// Keeps the shared library that contains this code loaded until the process ends, also if the
// program closes it (dlclose). A program that contains this code itself needs nothing. Returns
// null, or why it failed. Takes the dynamic linker's lock.
const char* pin_this_library() noexcept;

// The lowest address of the stack that the system gave to the calling thread; 0 if that cannot be
// found out. The main thread's stack counts as grown to its limit.
std::uintptr_t lowest_of_own_stack() noexcept;

// errno. These are functions of their own, because compilers keep the address of errno across calls
// after which a strand runs on another thread.
int* this_threads_error() noexcept;
void set_error(int value) noexcept;
// Reads another thread's errno, which that thread may be writing.
int read_error(const int* place) noexcept;

} // namespace nopal::base
NOPAL_HIDDEN_END
