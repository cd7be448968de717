// SPDX-License-Identifier: MIT
// The functions of nopal.h, by the public interface for C++. No exception leaves them but by
// nopal_rethrow: what a function returns to fail, or throws, is carried to the call's end as an
// exception, which cancels what comes serially after it, and becomes a number there.
#include "nopal/nopal.h"

#include "nopal/affine.h"
#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/die.h"
#include "nopal/cancel.h"
#include "nopal/config.h"
#include "nopal/config/environment.h"
#include "nopal/invoke.h"
#include "nopal/loop.h"
#include "nopal/runtime.h"
#include "nopal/sched/affine_call.h"
#include "nopal/sched/forks.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/worker.h"

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>

namespace nopal::inline NOPAL_ABI::c {
namespace {

// What nopal_message and nopal_rethrow say of the calling thread's last call.
struct last_call {
  char sentence[400] = "no call of this thread has failed";
  std::exception_ptr thrown;
};
thread_local last_call noted;

// Not inlined: the caller may have changed threads, and compilers keep the place of `noted`.
[[gnu::noinline, gnu::format(printf, 2, 3)]] int note(int result, const char* format, ...) {
  std::va_list parts;
  va_start(parts, format);
  std::vsnprintf(noted.sentence, sizeof noted.sentence, format, parts);
  va_end(parts);
  return result;
}
[[gnu::noinline]] int note_exception(std::exception_ptr thrown, const char* what) {
  noted.thrown = std::move(thrown);
  return note(NOPAL_EXCEPTION, "a function that was called in parallel has thrown: %s", what);
}
int note_cancelled() {
  return note(NOPAL_CANCELLED, "the computation was cancelled, or its time had passed");
}

// Thrown where a function has returned another number than 0.
struct failed {
  int result;
};

void check(int result) {
  if (result == NOPAL_OK) [[likely]]
    return;
  if (result == NOPAL_CANCELLED && nopal::is_cancelled())
    join::throw_cancelled();
  throw failed{result};
}

// The number for what `body` throws.
template <class Body> int result_of(Body&& body) noexcept {
  try {
    body();
    return NOPAL_OK;
  } catch (const failed& failure) {
    return failure.result == NOPAL_CANCELLED ? note_cancelled() : failure.result;
  } catch (const nopal::cancelled& by) {
    by.note_kept();
    return note_cancelled();
  } catch (const std::exception& error) {
    return note_exception(std::current_exception(), error.what());
  } catch (...) {
    return note_exception(std::current_exception(), "no std::exception");
  }
}

[[gnu::cold]] int refuse_version(int version) noexcept {
  note(NOPAL_OTHER_VERSION,
       "a file was compiled with a <nopal/nopal.h> whose NOPAL_ABI_VERSION is %d, but the library "
       "has %d; compile the file with the library's header",
       version & (NOPAL_MIGRATING - 1), NOPAL_ABI_VERSION);
  base::say("%s", noted.sentence);
  return NOPAL_OTHER_VERSION;
}
bool is_ours(int version) noexcept {
  return (version & (NOPAL_MIGRATING - 1)) == NOPAL_ABI_VERSION;
}

// Calls `body`, which may migrate, as the caller has asked for.
template <class Body> int call(int version, const Body& body) noexcept {
  if (!is_ours(version)) [[unlikely]]
    return refuse_version(version);
  if ((version & NOPAL_MIGRATING) != 0)
    return result_of(body);
  return result_of([&] { nopal::affine(body); });
}

// The same for a body that is no more than a fork, which most often no thief takes.
template <class Body> int call_briefly(int version, const Body& body) noexcept {
  if ((version & NOPAL_MIGRATING) != 0 || !is_ours(version) || !sched::affine_call::possible())
    return call(version, body);
  return result_of([&] {
    sched::affine_call region;
    try {
      body();
    } catch (...) {
      region.end();
      throw;
    }
    region.end();
  });
}

// Calls piece(first, last) for each piece.
template <class Piece>
void by_pieces(std::size_t begin, std::size_t end, std::size_t grain, const Piece& piece) {
  if (begin >= end)
    return;
  const auto leaf = [&](std::size_t first, std::size_t count) {
    piece(first, first + count);
    return std::monostate{};
  };
  const auto nothing = [](std::monostate, std::monostate) {};
  detail::over_pieces(begin, end - begin, detail::grain_of(end - begin, grain), leaf, nothing);
}

static_assert(sizeof(std::stop_source) <= sizeof(nopal_canceller) &&
              alignof(std::stop_source) <= alignof(nopal_canceller));
std::stop_source& source_of(nopal_canceller& canceller) noexcept {
  return *std::launder(reinterpret_cast<std::stop_source*>(&canceller));
}

// Its scope's frame is this function's. False: it was cancelled. Functions in C may return as if
// nothing had happened, so it counts whether they were told to stop, not whether they did.
[[gnu::noinline]] bool complete_before(std::chrono::steady_clock::time_point deadline,
                                       std::stop_token by, nopal_function f, void* context) {
  nopal::cancel_scope s{deadline, std::move(by)};
  s.fork([=] { check(f(context)); });
  return s.try_join() && !s.cancelled();
}

using config::options;
using config::resolved_options;
struct option {
  const char* name;
  const char* variable;
  void (*take)(options& to, const resolved_options& from);
};
template <auto To, auto From> void take(options& to, const resolved_options& from) {
  to.*To = (from.*From).value;
}
#define NOPAL_C_OPTION(name, variable)                                                             \
  {#name, variable, take<&options::name, &resolved_options::name>}
constexpr option all_options[] = {
    NOPAL_C_OPTION(num_workers, "NOPAL_NUM_WORKERS"),
    NOPAL_C_OPTION(stack_size, "NOPAL_STACK_SIZE"),
    NOPAL_C_OPTION(fiber_stack_size, "NOPAL_FIBER_STACK_SIZE"),
    NOPAL_C_OPTION(fiber_guards, "NOPAL_FIBER_GUARDS"),
    NOPAL_C_OPTION(stack_budget, "NOPAL_STACK_BUDGET"),
    NOPAL_C_OPTION(max_stacks, "NOPAL_MAX_STACKS"),
    NOPAL_C_OPTION(binding, "NOPAL_BIND"),
    NOPAL_C_OPTION(tick, "NOPAL_TICK"),
    NOPAL_C_OPTION(max_blocking, "NOPAL_MAX_BLOCKING"),
    NOPAL_C_OPTION(virtual_workers, "NOPAL_VIRTUAL_WORKERS"),
    NOPAL_C_OPTION(races, "NOPAL_RACES"),
    NOPAL_C_OPTION(stats, "NOPAL_STATS"),
    NOPAL_C_OPTION(verbose, "NOPAL_VERBOSE"),
    NOPAL_C_OPTION(seed, "NOPAL_SEED"),
};
#undef NOPAL_C_OPTION

// The options, if each of the variables that `lookup` returns is accepted.
std::variant<resolved_options, std::string> resolve(const options& asked,
                                                    const config::variable_lookup& lookup) {
  return config::resolve(asked, {NOPAL_DEFAULT_STACK_BUDGET, NOPAL_DEFAULT_MAX_STACKS}, lookup,
                         config::cpu_count{}, 0);
}

std::mutex lock; // guards `decided`, and options while one is set
bool decided = false;

NOPAL_IN_CHILD([]() noexcept {
  base::renew(lock);
  decided = false;
});

} // namespace
} // namespace nopal::inline NOPAL_ABI::c

// Where nopal.h declares them: else compilers give them another visibility.
extern "C" {

using namespace nopal::c;

int nopal_abi_version(void) { return NOPAL_ABI_VERSION; }

void nopal_require_version(int version) {
  if (!is_ours(version)) {
    refuse_version(version);
    std::_Exit(nopal::base::exit_status_died);
  }
}

const char* nopal_message(void) { return noted.sentence; }

void nopal_rethrow(void) {
  NOPAL_ASSERT(noted.thrown != nullptr,
               "nopal_rethrow was called on a thread to which no call has returned "
               "NOPAL_EXCEPTION; call it where one has");
  std::rethrow_exception(std::exchange(noted.thrown, nullptr));
}

int nopal_call_as(int version, nopal_function f, void* context) {
  return call(version, [=] { check(f(context)); });
}

int nopal_invoke_as(int version, nopal_function f, void* a, nopal_function g, void* b) {
  return call_briefly(version, [=] { nopal::invoke([=] { check(f(a)); }, [=] { check(g(b)); }); });
}

int nopal_for_range_as(int version, std::size_t begin, std::size_t end, std::size_t grain,
                       nopal_range_function body, void* context) {
  return call(version, [=] {
    by_pieces(begin, end, grain,
              [=](std::size_t first, std::size_t last) { check(body(context, first, last)); });
  });
}

int nopal_for_index_as(int version, std::size_t begin, std::size_t end, std::size_t grain,
                       nopal_index_function body, void* context) {
  return call(version, [=] {
    by_pieces(begin, end, grain, [=](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i)
        check(body(context, i));
    });
  });
}

#if !defined(NOPAL_C_SHARED)
// The whole of nopal_join behind the wait; the frame is the scope.
NOPAL_OWN int nopal_join_result(nopal::join::scope_frame* scope) {
  return result_of([=] { nopal::sched::finish_join(scope); });
}
#endif

int nopal_canceller_open(nopal_canceller* canceller) {
  try {
    new (canceller) std::stop_source;
    return NOPAL_OK;
  } catch (const std::bad_alloc&) {
    return note(NOPAL_NO_MEMORY, "there is no memory for a canceller");
  }
}
void nopal_canceller_close(nopal_canceller* canceller) { std::destroy_at(&source_of(*canceller)); }
void nopal_cancel(nopal_canceller* canceller) { source_of(*canceller).request_stop(); }

int nopal_call_cancelable_as(int version, nopal_canceller* canceller, std::int64_t timeout_ns,
                             nopal_function f, void* context) {
  const auto deadline = timeout_ns < 0 ? nopal::detail::never
                                       : nopal::detail::after(std::chrono::nanoseconds(timeout_ns));
  const std::stop_token by = canceller ? source_of(*canceller).get_token() : std::stop_token{};
  return call(version, [&] {
    if (!complete_before(deadline, by, f, context))
      throw failed{NOPAL_CANCELLED};
  });
}

int nopal_is_cancelled(void) { return nopal::is_cancelled() ? 1 : 0; }

int nopal_set_option(const char* name, const char* value) {
  const auto* const found = std::ranges::find_if(
      all_options, [&](const option& each) { return std::strcmp(each.name, name) == 0; });
  if (found == std::end(all_options))
    return note(NOPAL_REFUSED, "there is no option \"%s\"; config/options.h lists them", name);
  const std::scoped_lock guard{lock};
  if (decided || nopal::stack::capacity() != 0) // stacks are there since the first fork
    return note(NOPAL_TOO_LATE,
                "%s was set after the options were decided, at the first fork or "
                "when the number of workers was asked for; set it before",
                name);
  const auto outcome = resolve({}, [&](const char* variable) {
    return std::strcmp(variable, found->variable) == 0 ? value : nullptr;
  });
  if (const auto* const complaint = std::get_if<std::string>(&outcome))
    return note(NOPAL_REFUSED, "%s", complaint->c_str());
  options next = nopal::vproc::options_asked();
  found->take(next, std::get<resolved_options>(outcome));
  nopal::configure(next);
  return NOPAL_OK;
}

unsigned nopal_num_workers(void) {
  const std::scoped_lock guard{lock};
  decided = true;
  return nopal::num_workers();
}

int nopal_start_as(int version) {
  if (!is_ours(version))
    return refuse_version(version);
  const auto outcome = resolve(nopal::vproc::options_asked(), nopal::config::variable);
  if (const auto* const complaint = std::get_if<std::string>(&outcome))
    return note(NOPAL_REFUSED, "%s", complaint->c_str());
  return result_of([] { nopal::affine([] {}); });
}

int nopal_stop(void) {
  if (nopal::vproc::on_strand())
    return note(NOPAL_BUSY, "nopal_stop was called by a strand; call it where none runs");
  nopal::stop_workers();
  return NOPAL_OK;
}

void nopal_statistics_of(nopal_statistics* all, std::size_t bytes) {
  const nopal::statistics now = nopal::stats();
  static_assert(sizeof now == sizeof(nopal_statistics));
  std::memset(all, 0, bytes);
  std::memcpy(all, &now, std::min(bytes, sizeof now));
}

} // extern "C"
