// SPDX-License-Identifier: MIT
// Exceptions of children, kept for the join in serial order, and the exception state of strands.
// README.md, "Exceptions", has the order and why no fork is counted for it.
//
// Paper: manticore-icfp08, section 6 (exceptions in serial order).
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>
#include <exception>

namespace nopal::inline NOPAL_ABI::join {

struct scope_frame;
struct fork_record;

struct failure {
  failure* next; // newest first
  std::int64_t order;
  std::exception_ptr what;
};

// The C++ runtime's per-thread exception state; travels with a strand that suspends or is stolen.
struct exception_state {
  void* caught;
  unsigned uncaught;

  // The strand is in a handler, or exceptions unwind it. One test for both.
  bool alive() const noexcept { return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) != 0; }
};
inline constexpr exception_state no_exceptions{nullptr, 0};
// Sends each fork that tests it to the slow path.
inline constexpr exception_state always_alive{nullptr, 1};

const exception_state* this_threads_exceptions() noexcept;
exception_state take_exception_state() noexcept;
void put_exception_state(exception_state state) noexcept;

// A thief cannot read its victim's exception state. So where an exception is alive, a fork sets the
// state aside in the scope before the continuation can be stolen; the thread that runs the
// continuation brings the state back.
void set_exceptions_aside(scope_frame* scope) noexcept;
void bring_exceptions_back(scope_frame* scope) noexcept;

// Runs a child whose parent has live exceptions. The child handles the same exception, in a
// handler of its own, so that it may rethrow it, and finds as many uncaught. True: it has thrown.
bool run_catching_amid(std::exception_ptr handled, unsigned uncaught, fork_record* record,
                       void (*run)(void*), void* closure) noexcept;

// In a handler of all: the current exception. Ends the program if another thing unwinds.
std::exception_ptr handled_exception() noexcept;
// There: keeps the current exception with the fork. Ends the program if memory is exhausted.
void capture_failure(fork_record* record) noexcept;

// The child of this fork has failed, detached or not: hands the failure to the scope.
void attach_failure(fork_record* record, bool detached) noexcept;

// Main path after the join: removes all failures of the scope and returns the serially first (null
// if none); the others are counted as suppressed.
std::exception_ptr collect_failures(scope_frame* scope) noexcept;

// After the join of an invoke: throws the first of the exceptions, and counts the others as
// suppressed. If none has thrown, but not all functions have a result, throws not_started.
void rethrow_first(const std::exception_ptr* thrown, std::size_t count, bool complete);

// Adds to the counts of suppressed exceptions, of the process and of this thread's last join;
// begin_suppressed_count sets the latter to zero first.
void count_suppressed(std::uint64_t number) noexcept;
void begin_suppressed_count(std::uint64_t number) noexcept;
std::uint64_t suppressed_by_last_join() noexcept;
std::uint64_t suppressed_in_total() noexcept;

} // namespace nopal::inline NOPAL_ABI::join
