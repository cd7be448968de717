// SPDX-License-Identifier: MIT
// Exceptions of children, kept for the join in serial order, and the exception state of strands.
// README.md, "Exceptions", has the order and why no fork is counted for it.
//
// Paper: manticore-icfp08, section 6 (exceptions in serial order).
#pragma once

#include "nopal/config.h"

#include <cstdint>
#include <exception>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

struct scope_frame;
struct fork_record;

// The result of a child that does not throw `cancelled` when it is stopped, but returns `stopped`.
enum class ended : bool { well, stopped };

struct failure {
  failure* next;      // the next older one in the scope's list
  std::int64_t order; // the failed child's place among the scope's children (README.md)
  std::exception_ptr what;
};

// The C++ runtime's per-thread exception state; travels with a strand that suspends or is stolen.
struct exception_state {
  void* caught;
  unsigned uncaught;

  // The strand is in a handler, or an exception unwinds it. One test for both.
  bool alive() const noexcept { return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) != 0; }
};
inline constexpr exception_state no_exceptions{nullptr, 0};
// A state that is always alive: a fork that tests it takes the slow path.
inline constexpr exception_state always_alive{nullptr, 1};

const exception_state* this_threads_exceptions() noexcept;
exception_state take_exception_state() noexcept;
void put_exception_state(exception_state state) noexcept;

// A thief cannot read its victim's exception state. So where an exception is alive, a fork sets the
// state aside in the scope before the continuation can be stolen; the thread that runs the
// continuation brings the state back.
void set_exceptions_aside(scope_frame* scope) noexcept;
void bring_exceptions_back(scope_frame* scope) noexcept;

// Runs a child whose parent has live exceptions. The child is in a handler of its own for
// `handled`, so that it may rethrow it, and sees `uncaught` more exceptions uncaught. True: it has
// thrown.
bool run_catching_amid(std::exception_ptr handled, unsigned uncaught, fork_record* record,
                       void (*run)(void*), void* closure) noexcept;

// Called in a catch (...): the current exception. If anything else unwinds, the program ends.
std::exception_ptr handled_exception() noexcept;
// Called in a catch (...): keeps the exception with the fork. Out of memory, the program ends.
void capture_failure(fork_record* record) noexcept;
// The child was not run, because its strand is cancelled. That is a failure, too.
void note_not_run(fork_record* record) noexcept;

// The same, where there is no fork: the main path has not made it.
void attach_not_run(scope_frame* scope) noexcept;

// Hands the failure of a fork's child, detached or not, to the scope. True: strands serially behind
// the child may be running and must be told to stop. The scope counts these cases (`stops`).
[[nodiscard]] bool attach_failure(fork_record* record, bool detached) noexcept;
// Called in a catch (...) on the main path of a structured scope (scope_frame.h) that has forked:
// the current exception becomes the scope's serially last failure.
void attach_last_failure(scope_frame* scope) noexcept;

struct collected {
  std::exception_ptr first; // of the serially first failure; null: no failure, or `cancelled`
  bool cancelled;           // the serially first failure is a cancelled child
  std::uint32_t stops;      // how often attach_failure returned true
};
// Called by the main path after the join. Removes all failures of the scope, deactivates it, and
// counts the exceptions but the first as suppressed. Cancelled children are not counted.
collected collect_failures(scope_frame* scope) noexcept;

// Throws `cancelled`.
[[noreturn]] void throw_cancelled();

// Both add to the process's count of suppressed exceptions and to that of this thread's last join;
// begin_suppressed_count sets the latter to zero before.
void count_suppressed(std::uint64_t number) noexcept;
void begin_suppressed_count(std::uint64_t number) noexcept;
std::uint64_t suppressed_by_last_join() noexcept;
std::uint64_t suppressed_in_total() noexcept;

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
