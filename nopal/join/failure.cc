// SPDX-License-Identifier: MIT
// Lists of failures, and access to the C++ runtime's per-thread exception state.
#include "nopal/join/failure.h"

#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/sanitizer.h"
#include "nopal/base/spin_lock.h"
#include "nopal/join/cancelled.h"
#include "nopal/join/join.h"

#include <cxxabi.h>

#include <new>
#include <typeinfo>
#include <utility>

namespace nopal::inline NOPAL_ABI::join {

#if defined(NOPAL_CHECKS)
void (*after_handler)() noexcept = []() noexcept {};
#endif
namespace {

// Guards each scope's list of failures and its `stops`. One lock for all scopes: failures are rare.
base::spin_lock failures_lock;
base::atomic<std::uint64_t> total_suppressed{0};
thread_local std::uint64_t last_join_suppressed = 0;

NOPAL_IN_CHILD([]() noexcept { failures_lock.begin_anew(); });

// The Itanium C++ ABI fixes these two fields (section 2.2.2).
exception_state& thread_state() noexcept {
  return *reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
}

// Stands for the failure of each cancelled child. It is in no list and never changes.
failure was_cancelled{nullptr, 0, nullptr};

#if defined(NOPAL_CHECKS)
void note_kept() noexcept {
  try {
    throw;
  } catch (const cancelled& caught) {
    caught.note_kept();
  }
}
#endif

// Called in a catch (...): a failure with the current exception, on the heap, or `was_cancelled`.
failure* kept_failure() noexcept {
  if (const std::type_info* const type = abi::__cxa_current_exception_type();
      type != nullptr && *type == typeid(cancelled)) {
    NOPAL_IF_CHECKED(note_kept());
    return &was_cancelled;
  }
  auto* const kept = new (std::nothrow) failure{nullptr, 0, handled_exception()};
  NOPAL_ASSERT(kept != nullptr, "out of memory while keeping a child's exception for its join");
  return kept;
}

// True: it is the least failure so far, and of a detached child (README.md, "overtakes").
bool attach(scope_frame* scope, failure* failed, std::int64_t order, bool detached) noexcept {
  const bool least = scope->note_failure(order);
  if (failed == &was_cancelled && !(least && detached))
    return false;
  const base::locked guard{failures_lock};
  if (failed != &was_cancelled) {
    failed->order = order;
    failed->next = std::exchange(scope->state().failures, failed);
  }
  if (least && detached)
    scope->state().stops += 1;
  return least && detached;
}

// Compilers take the address of this state for a constant, so no function that writes it is
// inlined.
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
  const exception_state own = take_exception_state();
  scope->activate(own.uncaught);
  scope->state().strand.exceptions = own;
  scope->note_exceptions_aside();
}

void bring_exceptions_back(scope_frame* scope) noexcept {
  scope->forget_exceptions_aside();
  put_exception_state(scope->state().strand.exceptions);
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

void capture_failure(fork_record* record) noexcept { record->failed = kept_failure(); }

void throw_cancelled() { throw cancelled{}; }

void note_not_run(fork_record* record) noexcept { record->failed = &was_cancelled; }

void attach_not_run(scope_frame* scope) noexcept {
  scope->activate(thread_state().uncaught);
  attach(scope, &was_cancelled, 2 * scope->steals(), false);
}

bool attach_failure(fork_record* record, bool detached) noexcept {
  scope_frame* const scope = record->scope();
  if (!detached)
    scope->activate(); // so that the join looks; for a detached child the steal has done it
  const std::int64_t epoch = detached ? record->steals_before : scope->steals();
  return attach(scope, record->failed, 2 * epoch + (detached ? 1 : 0), detached);
}

void attach_last_failure(scope_frame* scope) noexcept {
  scope->activate();
  attach(scope, kept_failure(), no_failure - 1, false);
}

// Needs no lock: all children have ended, and the join's counter orders this after them.
collected collect_failures(scope_frame* scope) noexcept {
  collected all{nullptr, false, scope->state().stops};
  std::int64_t first_order = scope->first_failure();
  const bool any_failed = first_order != no_failure;
  std::uint64_t count = 0;
  for (failure* at = scope->state().failures; at != nullptr; ++count) {
    if (at->order <= first_order) { // the list is newest first: of equals the oldest stays
      all.first = at->what;
      first_order = at->order;
    }
    delete std::exchange(at, at->next);
  }
  scope->deactivate();
  all.cancelled = any_failed && all.first == nullptr;
  if (count > 0)
    begin_suppressed_count(count - (all.cancelled ? 0 : 1));
  return all;
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
