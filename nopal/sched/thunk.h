// SPDX-License-Identifier: MIT
// The thunks that run children, behind scope::fork.
//
// A fork is an ordinary call of a stub, with the scope and the child's closure; the stub records
// the caller and jumps to the thunk. A small trivially copyable closure, or a function with such
// arguments, travels in registers, cut into words if need be. Anything else travels by address, and
// the thunk moves it into its own frame. Either way the child has its copy before the fork is
// opened, since a thief may overwrite the parent's temporaries at once.
#pragma once

#include "nopal/base/closure.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/cancelable.h"
#include "nopal/join/failure.h"
#include "nopal/join/join.h"
#include "nopal/join/kept_results.h"
#include "nopal/sched/forks.h"
#include "nopal/sched/given.h"
#include "nopal/vproc/worker_deque.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

using join::fork_kind;
using join::fork_record;
using join::scope_frame;

// A copy of the bytes is a copy of the value.
template <class T>
inline constexpr bool copied_as_bytes =
    std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T>;

// The System V convention passes such a value in registers. A value passed in memory would move the
// stack pointer of the call.
template <class T>
inline constexpr bool fits_registers =
    copied_as_bytes<T> &&
    (std::is_scalar_v<T> ? sizeof(T) <= 8
                         : std::is_empty_v<T> || (alignof(T) == 8 && sizeof(T) <= 16));

template <class T>
inline constexpr std::size_t general_registers =
    std::is_empty_v<T> || std::is_floating_point_v<T> ? 0 : (sizeof(T) + 7) / 8;
template <class T>
inline constexpr std::size_t vector_registers =
    std::is_scalar_v<T> ? std::is_floating_point_v<T> : 2;

// One of the six general registers holds the scope. A class counts as general and as vector
// registers, since it may need either.
template <class... T>
inline constexpr bool travel_in_registers =
    (fits_registers<T> && ...) && (general_registers<T> + ... + 0) <= 5 &&
    (vector_registers<T> + ... + 0) <= 8;

// The child's result says whether it was stopped, which counts as if it had thrown `cancelled`.
template <class Body>
inline constexpr bool says_how_it_ended = std::is_same_v<std::invoke_result_t<Body&>, join::ended>;

template <class Body> void run_body(void* body) {
  if constexpr (says_how_it_ended<Body>) {
    if (base::call_body(*static_cast<Body*>(body)) == join::ended::stopped)
      join::throw_cancelled();
  } else {
    base::call_body(*static_cast<Body*>(body));
  }
}

// The slow path of a fork runs a body, or drops it. Only a body that destroys itself when it is run
// needs to be dropped.
template <class Body> void drop_body(void* body) {
  if constexpr (requires(Body& dropped) { dropped.drop(); })
    static_cast<Body*>(body)->drop();
}
template <class Body> // GCC hides a variable template only if it is told so for each
[[gnu::visibility("hidden")]] inline constexpr body_calls calls_of{run_body<Body>, drop_body<Body>};

// Runs the child of an open fork, and closes the fork.
template <class Body>
[[gnu::always_inline]] inline void run_opened(fork_record& record, Body& body) {
  try {
    if constexpr (says_how_it_ended<Body>) {
      if (base::call_body(body) == join::ended::stopped) {
        join::note_not_run(arch::address_of(record));
        goto failed;
      }
    } else {
      base::call_body(body);
    }
  } catch (...) {
    join::capture_failure(arch::address_of(record));
    goto failed;
  }
  if (!vproc::pop(&record)) [[unlikely]]
    child_returned(arch::address_of(record));
  return;
failed:
  child_threw(arch::address_of(record));
}

// Given is Body if the body travels in registers, else Body&.
template <class Body, class Given>
[[gnu::noinline, gnu::cold]] NOPAL_THUNK void run_child_slow(fork_record& record, Given body) {
  if (!fork_slow(&record, calls_of<Body>, __builtin_addressof(body)))
    run_opened(record, body);
}

// A canceller looks at the stack on which a region's first child runs (descent.h).
[[gnu::always_inline]] inline void note_region_fork(join::region_frame* frame) noexcept {
  if (frame->region != nullptr && !frame->needs_join())
    frame->region->forked_at.store(arch::stack_pointer(), base::relaxed);
}

#if defined(NOPAL_TSAN)
// A local variable of the thunk: the strand is the child while it lives (base/races.h).
class seen_child {
public:
  [[gnu::always_inline]] explicit seen_child(const scope_frame* scope) noexcept
      : child_{begin_seen_child(scope)},
        high_{reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 2 * sizeof(void*)} {}
  [[gnu::always_inline]] ~seen_child() { end_seen_child(child_, high_); }
  seen_child(const seen_child&) = delete;
  seen_child& operator=(const seen_child&) = delete;

private:
  base::seen_strand* const child_;
  const std::uintptr_t high_; // the parent's frames are above it
};
#endif

template <fork_kind Kind, class Body>
[[gnu::always_inline]] inline void run_child(scope_frame* scope, Body& body) {
  NOPAL_IF_SEEN(const seen_child seen{scope});
  if constexpr (Kind == fork_kind::region) // before the record exists, which others may complete
    note_region_fork(static_cast<join::region_frame*>(scope));
  fork_record record{scope, Kind};
  vproc::worker_deque* const self = vproc::current_deque();
  NOPAL_IF_CHECKED(check_control(self));
  if (!self->exceptions->alive() && self->deque.push(&record)) [[likely]]
    return run_opened(record, body);
  // A copy, so that on the fast path the body's parts stay in registers and out of the frame.
  if constexpr (!copied_as_bytes<Body>) {
    run_child_slow<Body, Body&>(record, body);
  } else if constexpr (fits_registers<Body>) {
    run_child_slow<Body, Body>(record, body);
  } else {
    Body own{body};
    run_child_slow<Body, Body&>(record, own);
  }
}

// Hidden, so that position-independent stubs may jump to it.
#define NOPAL_THUNK_FUNCTION [[gnu::noinline, gnu::visibility("hidden")]] NOPAL_THUNK

template <fork_kind Kind, class F, class... Args>
NOPAL_THUNK_FUNCTION void call_thunk(scope_frame* scope, F f, Args... args) {
  auto child = [=]() mutable -> decltype(auto) { return base::call(f, std::move(args)...); };
  run_child<Kind>(scope, child);
}

// The result is bytes only, and the store of the result is the child's last act: no destructor of
// its function or arguments follows.
template <class R, class F, class... Args>
inline constexpr bool may_be_kept =
    copied_as_bytes<R> && !std::is_volatile_v<R> &&
    std::is_trivially_assignable_v<R&, std::invoke_result_t<F&, Args...>> &&
    (std::is_trivially_destructible_v<std::decay_t<Args>> && ...);

// A function whose result goes to the parent's variable.
template <class R, class F> struct into {
  R* result;
  [[no_unique_address]] F f;
  NOPAL_CHECKED_PART(join::kept_results* kept;)
  template <class... Args> void operator()(Args&&... args) {
    *result = base::call(f, std::forward<Args>(args)...);
    NOPAL_CHECKED_PART(if constexpr (may_be_kept<R, F, Args...>) if (kept != nullptr)
                           kept->keep(result, sizeof *result);)
  }
};

// A closure cut into words. One word is copied at a time, or GCC would copy through memory.
template <class F> inline constexpr std::size_t words_of = (sizeof(F) + 7) / 8;
template <class F>
inline constexpr bool travels_in_words = copied_as_bytes<F> && alignof(F) <= 8 && words_of<F> <= 5;

template <class F> union cut {
  F f;
  std::array<std::uint64_t, words_of<F>> words;

  [[gnu::always_inline]] cut() noexcept {}
  [[gnu::always_inline]] explicit cut(const F& from) noexcept : words{} {
    std::memcpy(&words, &from, sizeof from);
  }
};

template <fork_kind Kind, class F, class... Words>
NOPAL_THUNK_FUNCTION void words_thunk(scope_frame* scope, Words... words) {
  cut<F> child;
  std::size_t at = 0;
  (std::memcpy(&child.words[at++], &words, sizeof words), ...);
  run_child<Kind>(scope, child.f);
}

// The closure is destroyed before the child counts as finished, by the call that runs the closure.
// An exception of the destructor counts as thrown by the child.
template <class Closure> struct run_and_destroy {
  union {
    Closure closure;
  };
  template <class Make> explicit run_and_destroy(Make make) : closure(make()) {}
  ~run_and_destroy() {}

  decltype(auto) operator()() {
    struct end {
      Closure* at;
      ~end() noexcept(std::is_nothrow_destructible_v<Closure>) { at->~Closure(); }
    } const at_end{__builtin_addressof(closure)};
    return closure();
  }
  void drop() { closure.~Closure(); }
};

// Never one element alone: Clang 17 constructs no such tuple of GCC 14's library in C++23.
struct before_parts {};
template <class F, class... Args> using given_parts = std::tuple<before_parts, F, Args...>;

// Moves or copies function and arguments from where the fork's caller has them, so that no
// temporary is destroyed in between.
template <fork_kind Kind, class F, class... Args>
NOPAL_THUNK_FUNCTION void given_thunk(scope_frame* scope, given_parts<F, Args...>* given) {
  const auto make = [given] {
    return std::apply(
        []<class... Parts>(before_parts, Parts&&... parts) {
          return base::closure_of(std::forward<Parts>(parts)...);
        },
        std::move(*given));
  };
  using closure = decltype(make());
  if constexpr (copied_as_bytes<closure>) {
    closure child = make();
    run_child<Kind>(scope, child);
  } else {
    run_and_destroy<closure> child{make};
    run_child<Kind>(scope, child);
  }
}

// The parent has just stored these parts one by one. Processors forward one store to a load, so a
// load of two parts would wait for both stores. Compilers do not join volatile loads.
template <class T> [[gnu::always_inline]] inline T loaded_alone(const T& part) noexcept {
  using word [[gnu::may_alias]] = std::uint64_t;
  if constexpr (std::is_scalar_v<T>)
    return *static_cast<const volatile T*>(&part);
  else if constexpr (sizeof(T) == sizeof(word) && alignof(T) == alignof(word))
    return std::bit_cast<T>(*reinterpret_cast<const volatile word*>(&part));
  else
    return part;
}

// A function with more arguments than fit registers.
template <fork_kind Kind, class F, class... Args>
NOPAL_THUNK_FUNCTION void parts_thunk(scope_frame* scope, const std::tuple<F, Args...>* parts) {
  auto child = std::apply(
      [](const F& f, const Args&... args) {
        return [own = loaded_alone(f), ... copies = loaded_alone(args)]() mutable {
          base::call(own, std::move(copies)...);
        };
      },
      *parts);
  run_child<Kind>(scope, child);
}

template <auto Thunk, class... Args>
NOPAL_FORK_STUB NOPAL_SWITCHES void stub(NOPAL_STUB_PARAMETERS(scope_frame*, Args...)) {
  NOPAL_RECORD_CALLER_AND_GO_TO(Thunk);
}

template <auto Thunk, class... Args>
[[gnu::always_inline]] inline void through_stub(scope_frame* scope, Args... args) {
  reinterpret_cast<decltype(Thunk)>(&stub<Thunk, Args...>)(scope, args...);
}

template <std::size_t> using word = std::uint64_t;

template <fork_kind Kind, class F, std::size_t... I>
[[gnu::always_inline]] inline void send_words(scope_frame* scope, const F& f,
                                              std::index_sequence<I...>) {
  const cut<F> own{f};
  through_stub<words_thunk<Kind, F, word<I>...>>(scope, own.words[I]...);
}

template <fork_kind Kind, class F, class... Args>
[[gnu::always_inline]] inline void call_stub(scope_frame* scope, F&& f, Args&&... args) {
  using function = std::decay_t<F>;
  NOPAL_IF_CHECKED((check_given(given_to::strand, f, args...)));
  if constexpr (travel_in_registers<function, std::decay_t<Args>...>) {
    through_stub<call_thunk<Kind, function, std::decay_t<Args>...>>(scope, function(f),
                                                                    std::decay_t<Args>(args)...);
  } else if constexpr (sizeof...(Args) > 0 && copied_as_bytes<function> &&
                       (copied_as_bytes<std::decay_t<Args>> && ...)) {
    const std::tuple<function, std::decay_t<Args>...> parts{f, args...};
    through_stub<parts_thunk<Kind, function, std::decay_t<Args>...>>(scope,
                                                                     __builtin_addressof(parts));
  } else if constexpr (sizeof...(Args) == 0 && travels_in_words<function>) {
    send_words<Kind, function>(scope, f, std::make_index_sequence<words_of<function>>{});
  } else {
    given_parts<F&&, Args&&...> given{before_parts{}, std::forward<F>(f),
                                      std::forward<Args>(args)...};
    through_stub<given_thunk<Kind, F&&, Args&&...>>(scope, __builtin_addressof(given));
  }
}

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
