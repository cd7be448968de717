// SPDX-License-Identifier: MIT
// The slow paths of spawn and join, and the loop in which a process without a task looks for one.
#pragma once

#include "nopal/config.h"
#include "nopal/process/options.h"
#include "nopal/process/run/worker.h"

#include <cstddef>
#include <cstdint>
#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class launch;

// Puts a result into its cell, in whichever process that is, and then the state.
void finish(cell_reference ref, cell_state reached, const void* bytes, std::size_t size) noexcept;
// The same for a child whose parent was stolen. Then the process looks for other work.
[[noreturn]] void finish_detached(cell_reference ref, cell_state reached, const void* bytes,
                                  std::size_t size) noexcept;
// A child has thrown: its cell holds this instead of a result. keep_error is called in a handler of
// all exceptions, and copies the text of the current one into a cell of its own.
struct error_text {
  cell_reference at;
  std::uint64_t size;
};
error_text keep_error() noexcept;

// Waits until the task has ended, copies its result, and frees its cell. Throws remote_error.
void join_slow(cell_reference ref, void* result, std::size_t size);

// Called by the first task, on the region, which it leaves: the computation has its result, or has
// failed. fail_run is called in a handler of all exceptions.
[[noreturn]] void finish_run(bool failed, const void* bytes, std::size_t size) noexcept;
[[noreturn]] void fail_run() noexcept;

// Collective. Process 0 calls root(copy of the closure) on the region, which ends in finish_run.
// All processes get the result, of `size` bytes, or throw remote_error.
void run(void (*root)(void*), const void* closure, std::size_t closure_size, void* result,
         std::size_t size);

// Collective: the beginning and the end of a session.
void begin(std::unique_ptr<launch> processes, const options& settings);
void end() noexcept;

// Whether this process is one of a session's; not one that the program has forked from it.
bool is_in_session() noexcept;
// Whether a run is under way, in whichever process of the session the caller is.
bool is_in_run() noexcept;

unsigned rank() noexcept;
unsigned size() noexcept;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
