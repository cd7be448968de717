// SPDX-License-Identifier: MIT
// Threads that Nopal begins, each with the same room for its frames in every program.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace nopal::base {

// Finds out how large their stacks must be, unless that is known. Takes the dynamic linker's lock.
void measure_threads() noexcept;

// Of a thread that runs code of Nopal's, and short callbacks.
inline constexpr std::size_t usual_room = std::size_t{256} << 10;

// Begins a thread that calls body(argument) and has so many bytes for its frames, with all signals
// blocked but those of its own faults. Returns the error of pthread_create.
int start_thread(pthread_t& begun, void* (*body)(void*), void* argument,
                 std::size_t room = usual_room) noexcept;

// Completes a message "cannot start ...": what the thread's stack takes, and that error in words.
struct thread_refused {
  explicit thread_refused(int error, std::size_t room = usual_room) noexcept;
  char text[256];
};

// Enough for the handlers that Nopal installs, whatever registers this processor saves for them.
std::size_t signal_stack_bytes() noexcept;

} // namespace nopal::base
