// SPDX-License-Identifier: MIT
// What differs in a program whose threads are processes that share their memory (nopal/mapped). A
// program that is not linked with that component has threads, and pays one load in slow paths.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

// All memory is shared between the processes but the view: the addresses [view_end - view_room,
// view_end), where each process maps what it wants, with no access until then.
struct sharing {
  // The calling thread goes on as a process of its own, with the same control block, errno and
  // pthread_self. In such a process, and in main's thread, this does nothing.
  void (*become_process)() noexcept;
  // Maps the shared pages at `shared` at `at` too, in the calling process alone. `populate`: with
  // page tables filled. False: the kernel refuses; errno says why.
  bool (*map_again)(std::uintptr_t shared, std::uintptr_t at, std::size_t bytes,
                    bool populate) noexcept;
  // A guard region (os.h) of shared memory, in the calling process alone.
  bool (*install_guard)(std::uintptr_t at, std::size_t bytes) noexcept;
  std::uintptr_t view_end;
  std::size_t view_room;
  // The signal with which the processes tell each other something: handled, but not the program's.
  int notice_signal;
  // Calls see(pid, ours, to) with the system's number of each process, the first one last, and with
  // how many of its threads run no code of the program, at least.
  void (*for_each_process)(void (*see)(int pid, std::size_t ours, void* to), void* to) noexcept;
};

// Null: threads. Set once, before any constructor of the program.
inline constinit const sharing* shared = nullptr;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
