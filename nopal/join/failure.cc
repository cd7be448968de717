// SPDX-License-Identifier: MIT
// Lists of failures, and access to the C++ runtime's per-thread exception state.
#include "nopal/join/failure.h"

#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/deque/spin_lock.h"
#include "nopal/join/join.h"
#include "nopal/join/serial_order.h"

#include <cxxabi.h>

#include <algorithm>
#include <new>
#include <utility>

namespace nopal::inline NOPAL_ABI::join {
namespace {

deque::spin_lock failures_lock;
base::atomic<std::uint64_t> total_suppressed{0};
thread_local std::uint64_t last_join_suppressed = 0;

// The Itanium C++ ABI fixes these two fields (section 2.2.2).
exception_state& thread_state() noexcept {
  return *reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
}

// Compilers take the address of this state for a constant; so what writes it is never inlined.
[[gnu::noinline]] void add_uncaught(unsigned number) noexcept { thread_state().uncaught += number; }

} // namespace

const exception_state* this_threads_exceptions() noexcept { return &thread_state(); }

[[gnu::noinline]] exception_state take_exception_state() noexcept {
  return std::exchange(thread_state(), exception_state{nullptr, 0});
}

[[gnu::noinline]] void put_exception_state(exception_state state) noexcept {
  thread_state() = state;
}

void set_exceptions_aside(scope_frame* scope) noexcept {
  scope->activate();
  scope->state().exceptions = take_exception_state();
  scope->note_exceptions_aside();
}

void bring_exceptions_back(scope_frame* scope) noexcept {
  scope->forget_exceptions_aside();
  put_exception_state(scope->state().exceptions);
}

NOPAL_SWITCHES bool run_catching_amid(std::exception_ptr handled, unsigned uncaught,
                                      fork_record* record, void (*run)(void*),
                                      void* closure) noexcept {
  if (handled != nullptr) {
    try {
      std::rethrow_exception(std::move(handled));
    } catch (...) {
      return run_catching_amid(nullptr, uncaught, record, run, closure);
    }
  }
  add_uncaught(uncaught);
  bool failed = false;
  try {
    run(closure);
  } catch (...) {
    capture_failure(record);
    failed = true;
  }
  add_uncaught(0u - uncaught); // on the thread where the child has ended
  return failed;
}

std::exception_ptr handled_exception() noexcept {
  std::exception_ptr thrown = std::current_exception();
  NOPAL_ASSERT(thrown != nullptr,
               "a strand was unwound by something else than a C++ exception (pthread_exit, the "
               "cancellation of its thread, another language's exception), which no join can throw "
               "again; return from its function instead");
  return thrown;
}

void capture_failure(fork_record* record) noexcept {
  record->failed = new (std::nothrow) failure{nullptr, 0, handled_exception()};
  NOPAL_ASSERT(record->failed != nullptr,
               "out of memory while keeping a child's exception for its join");
}

void attach_failure(fork_record* record, bool detached) noexcept {
  scope_frame* scope = record->scope;
  if (!detached)
    scope->activate(); // so that the join looks; a steal has activated the scope
  const std::int64_t epoch = detached ? record->steals_before : scope->steals();
  record->failed->order = 2 * epoch + (detached ? 1 : 0);
  const deque::locked guard{failures_lock};
  record->failed->next = std::exchange(scope->state().failures, record->failed);
}

std::exception_ptr collect_failures(scope_frame* scope) noexcept {
  std::exception_ptr first;
  std::int64_t first_order = 0;
  std::uint64_t count = 0;
  for (failure* at = scope->state().failures; at != nullptr; ++count) {
    if (first == nullptr || at->order <= first_order) {
      first = at->what;
      first_order = at->order;
    }
    delete std::exchange(at, at->next);
  }
  scope->deactivate();
  if (count > 0)
    begin_suppressed_count(count - 1);
  return first;
}

void rethrow_first(const std::exception_ptr* thrown, std::size_t count, bool complete) {
  if (complete)
    return;
  const auto* const end = thrown + count;
  const auto* const first = std::find_if(thrown, end, [](const auto& what) { return bool(what); });
  if (first == end)
    throw not_started{};
  begin_suppressed_count(static_cast<std::uint64_t>(
      std::count_if(first + 1, end, [](const auto& what) { return bool(what); })));
  std::rethrow_exception(*first);
}

void begin_suppressed_count(std::uint64_t number) noexcept {
  last_join_suppressed = 0;
  count_suppressed(number);
}

void count_suppressed(std::uint64_t number) noexcept {
  last_join_suppressed += number;
  total_suppressed.fetch_add(number, base::relaxed);
}

std::uint64_t suppressed_by_last_join() noexcept { return last_join_suppressed; }
std::uint64_t suppressed_in_total() noexcept { return total_suppressed.load(base::relaxed); }

} // namespace nopal::inline NOPAL_ABI::join
