// SPDX-License-Identifier: MIT
// Threads that Nopal begins, each with the same room for its frames in every program.
#pragma once

#include "nopal/config.h"

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

// Computes how large their stacks must be, unless that is known. Takes the dynamic linker's lock,
// so the caller holds none of Nopal's: a library that is being loaded may fork in its constructors.
void measure_threads() noexcept;

// Bytes for the frames of a thread that runs Nopal's own code and short callbacks.
inline constexpr std::size_t usual_room = std::size_t{256} << 10;
// Bytes of the guard below a thread's stack. The program's callbacks may have large frames.
inline constexpr std::size_t usual_guard = std::size_t{512} << 10;

// Begins a thread that calls body(argument) and has `room` bytes for its frames. It blocks all
// signals but those of its own faults. Returns 0, or the error of the pthread function that failed.
int start_thread(pthread_t& begun, void* (*body)(void*), void* argument,
                 std::size_t room = usual_room, std::size_t guard = usual_guard) noexcept;

// A thread, begun by start_thread, that calls a function. If the system refuses the thread, the
// program ends with a message.
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

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
