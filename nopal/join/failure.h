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

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

struct scope_frame;
struct fork_record;

// How a child has ended that says so instead of throwing `cancelled`.
enum class ended : bool { well, stopped };

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
// The child was not run, because its strand is cancelled. That is a failure, too.
void note_not_run(fork_record* record) noexcept;

// The same, where there is no fork: the main path has not made it.
void attach_not_run(scope_frame* scope) noexcept;

// The child of this fork has failed, detached or not: hands the failure to the scope. True: strands
// that stand behind it may be running, and were not told of a failure before them. The scope counts
// how often that was so.
[[nodiscard]] bool attach_failure(fork_record* record, bool detached) noexcept;
// In a handler of all, on the main path of a structured scope (scope_frame.h), of which a child was
// forked: the current exception is the serially last failure.
void attach_last_failure(scope_frame* scope) noexcept;

struct collected {
  std::exception_ptr first; // the serially first failure; null: there is none, or it is `cancelled`
  bool cancelled;           // it is
  std::uint32_t stops;      // how often attach_failure returned true
};
// Main path after the join: removes all failures of the scope; but for the first they are counted
// as suppressed. Those that were cancelled never are.
collected collect_failures(scope_frame* scope) noexcept;

// Throws `cancelled`.
[[noreturn]] void throw_cancelled();

// Adds to the counts of suppressed exceptions, of the process and of this thread's last join;
// begin_suppressed_count sets the latter to zero first.
void count_suppressed(std::uint64_t number) noexcept;
void begin_suppressed_count(std::uint64_t number) noexcept;
std::uint64_t suppressed_by_last_join() noexcept;
std::uint64_t suppressed_in_total() noexcept;

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
