// SPDX-License-Identifier: MIT
// Threads that Nopal begins, each with the same room for its frames in every program.
#pragma once

#include "nopal/config.h"

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::base {

// Finds out how large their stacks must be, unless that is known. Takes the dynamic linker's lock.
void measure_threads() noexcept;

// Of a thread that runs code of Nopal's, and short callbacks.
inline constexpr std::size_t usual_room = std::size_t{256} << 10;
// Of the guard below a thread's stack: frames of the program run there too.
inline constexpr std::size_t usual_guard = std::size_t{512} << 10;

// Begins a thread that calls body(argument) and has so many bytes for its frames, with all signals
// blocked but those of its own faults. Returns the error of pthread_create.
int start_thread(pthread_t& begun, void* (*body)(void*), void* argument,
                 std::size_t room = usual_room, std::size_t guard = usual_guard) noexcept;

// A thread that calls a function: by start_thread, which ends the program with a sentence if it
// cannot.
class thread {
public:
  thread() = default;
  // `purpose` completes "cannot start a thread that ...".
  thread(const char* purpose, std::function<void()> body, std::size_t room = usual_room);

  bool joinable() const noexcept { return body_ != nullptr; }
  void join();

private:
  std::unique_ptr<std::function<void()>> body_; // null: there is no thread
  pthread_t thread_{};
};

// Completes a message "cannot start ...": what the thread's stack takes, and why it was refused.
struct thread_refused {
  explicit thread_refused(int error, std::size_t room = usual_room,
                          std::size_t guard = usual_guard) noexcept;
  char text[448];
};

} // namespace nopal::base
NOPAL_HIDDEN_END
