// SPDX-License-Identifier: MIT
// What a process has changed that each process must change for itself: mappings, rights, and
// actions of signals. The others apply it when they fault, or when they are asked to: then a thread
// that does nothing else applies it, since a signal would end a call in which the program waits.
//
// Invariant: retired <= each process's `applied` <= count <= retired + capacity. Entries below
//            `retired` are forgotten, and their descriptors closed. A process that has applied n
//            entries has mapped what these say, in their order.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

struct change {
  enum class kind : std::uint8_t {
    map,     // the file at `where`, of which `descriptor` is kept until all have mapped it
    unmap,   // nothing is there again
    protect, // `access` is the new one
    remap,   // mremap with `flags`, of `bytes_before` to `bytes`, perhaps to `where`
    act,     // at the signal `access`, as the table says
  };
  kind what;
  int access = 0, flags = 0, descriptor = -1;
  std::uintptr_t at = 0;
  std::size_t bytes = 0;
  std::uintptr_t where = 0;
  std::size_t bytes_before = 0;
};

// Applies the change here, and lets the others know. An error of the kernel is returned, and then
// nothing has changed, but for rights, which the kernel changes up to where it finds the error.
long log_change(const change& made) noexcept;
// Applies what this process has not yet applied. True: there was some.
bool catch_up() noexcept;
// Returns when the others have caught up, or will before they run the program's code again.
void make_all_catch_up() noexcept;

// What the thread of a process does that applies what the others ask for, until it is dismissed: by
// the thread that the process began with, as it ends. Threads that go on are sent SIGSYS instead.
[[noreturn]] void attend_to_log() noexcept;
bool claim_attendant() noexcept; // false: the process has one
void note_attendant() noexcept;  // it has begun
void dismiss_attendant() noexcept;

// For a clone of this process: nobody applies anything and nobody logs anything in between.
void hold_log() noexcept;
void release_log() noexcept;
void release_own_log() noexcept; // in one of the two processes
void forget_log() noexcept;      // in a process that was forked: it is the only one

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
