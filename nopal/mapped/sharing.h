// SPDX-License-Identifier: MIT
// One process becomes several that share all memory but one range of addresses: what the views and
// the tests see of it. README.md explains how.
#pragma once

#include "nopal/arch/mapped.h"
#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

// A system call that is never trapped.
using arch::raw;

// Whether this program shares its memory; else its threads are threads.
bool on() noexcept;

// See base/shared.h.
void become_process() noexcept;
bool map_again(std::uintptr_t shared, std::uintptr_t at, std::size_t bytes, bool populate) noexcept;

// The addresses that each process maps as it likes.
struct range {
  std::uintptr_t low, end;
};
range view_range() noexcept;

// What has happened since the program began, in all its processes together.
struct counts {
  base::atomic<std::uint64_t> trapped;   // system calls
  base::atomic<std::uint64_t> futexes;   // of them, private futexes whose site was not rewritten
  base::atomic<std::uint64_t> by_twin;   // of them, made by the first process for another
  base::atomic<std::uint64_t> faults;    // SIGSEGV and SIGBUS, of which these many
  base::atomic<std::uint64_t> caught_up; // were a process's first touch of a new mapping
  base::atomic<std::uint64_t> rewritten; // sites of futexes
  base::atomic<std::uint64_t> start_ns, converted_bytes; // of the start
};
counts& counted() noexcept;

} // namespace nopal::mapped

// The linker takes the room from its archive since a program is linked with -u of this name. It is
// called before any constructor, with main's arguments.
extern "C" void nopal_mapped_start(int count, char** arguments, char** environment);
NOPAL_HIDDEN_END
