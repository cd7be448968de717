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

// Puts a result into its cell, wherever that is.
void finish(cell_reference of, cell_state how, const void* bytes, std::size_t size) noexcept;
// The same for a child whose parent was stolen: then the process looks for other work.
[[noreturn]] void finish_detached(cell_reference of, cell_state how, const void* bytes,
                                  std::size_t size) noexcept;
// In a handler of all. A child has thrown: what its cell gets instead of a result.
struct error_text {
  cell_reference at;
  std::uint64_t size;
};
error_text keep_error() noexcept;

// Waits until the task has ended, copies its result, and frees its cell. Throws remote_error.
void join_slow(cell_reference of, void* result, std::size_t size);

// On the region, which it leaves: the computation has come to its result, or has failed.
[[noreturn]] void finish_run(bool failed, const void* bytes, std::size_t size) noexcept;
// In a handler of all: the same with the exception.
[[noreturn]] void fail_run() noexcept;

// Collective. Process 0 calls root(copy of the closure) on the region; it ends in finish_run. All
// processes get the result, of so many bytes, or throw remote_error.
void run(void (*root)(void*), const void* closure, std::size_t closure_size, void* result,
         std::size_t size);

// Collective: the beginning and the end of what a program does with several processes.
void begin(std::unique_ptr<launch> with, const resolved_options& options);
int end() noexcept;

unsigned rank() noexcept;
unsigned size() noexcept;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
