// SPDX-License-Identifier: MIT
// The system calls of the runtime, each with the one meaning it is used for. For any thread.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/instrumented.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

constexpr std::size_t page_size() noexcept { return 4096; } // of every x86-64 processor
constexpr std::size_t huge_page_size() noexcept { return std::size_t{2} << 20; }

// Registers the process for membarrier(2)'s private expedited command (Linux 4.14). False: the
// kernel has none; then `heavy_barrier` is a plain fence, and the runtime makes every fork
// synchronise. Any thread may call this, also repeatedly.
bool enable_heavy_barrier() noexcept;

// Reserves `bytes` of address space aligned to `alignment` (a power of two), with no access and no
// memory behind it. Null when the address space does not have it.
void* reserve(std::size_t bytes, std::size_t alignment) noexcept;

// The converse, for whole pages of it.
void unreserve(void* at, std::size_t bytes) noexcept;

// `commit` makes reserved memory usable: pages appear, zeroed, when touched, or at once if the
// memory is locked. `forbid` takes the access away. False: the kernel refuses; errno says why.
bool commit(void* at, std::size_t bytes) noexcept;
bool forbid(void* at, std::size_t bytes) noexcept;

// Whether the kernel has guard regions (Linux 6.13), which need no mapping of their own.
// `install_guard` makes one of committed memory; false if the kernel refuses, as in locked memory.
bool has_guard_regions() noexcept;
bool install_guard(void* at, std::size_t bytes) noexcept;

// Reserves whole pages that are usable at once and zeroed. A page takes memory when touched.
void* map_zeroed(std::size_t bytes) noexcept;

// The first touch makes huge pages of this memory, where the system has any. It stays as it is.
void ask_for_huge_pages(void* at, std::size_t bytes) noexcept;

// Gives the pages' memory back, even if locked (mlockall). The addresses stay and read as zero.
// False: the memory stays as it is, since it is locked and the kernel is older than Linux 5.18.
bool discard(void* at, std::size_t bytes) noexcept;

// How many pages of this range have memory. Where the kernel does not say, each page counts.
std::size_t resident_pages(void* at, std::size_t bytes) noexcept;
// Which of at most 64 pages have memory: bit i is the i-th from `at`. If the kernel is silent, all.
std::uint64_t which_resident(std::uintptr_t at, std::size_t pages) noexcept;

// futex_wait sleeps while `word` holds `expected`, or less long; futex_wake_one wakes one sleeper.
void futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
// Not beyond this time of the steady clock, in nanoseconds.
void futex_wait_until(atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::int64_t until_ns) noexcept;
void futex_wake_one(atomic<std::uint32_t>& word) noexcept;

void sleep_us(unsigned microseconds) noexcept;
// Lets other threads of the system run on this processor.
void give_way() noexcept;
// Asks the system to give the calling thread short turns. When it wakes up, it then gets a
// processor sooner, also from a thread that computes. Before Linux 6.12 this changes nothing.
void ask_for_short_turns() noexcept;
// The processor's clock, which counts at a constant rate.
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
NOPAL_READS_FRAMES inline int read_error(const int* from) noexcept {
  return *static_cast<const volatile int*>(from);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
