// SPDX-License-Identifier: MIT
//
// Behind scope::fork: the thunks that run children.
//
// A fork is an ordinary call of nopal_arch_fork with the scope, the thunk and the child's closure.
// A small trivially copyable closure, or a function with such arguments, travels in registers;
// anything else by address, and the thunk moves it into its own frame. Either way the child has its
// copy before the continuation is offered, since a thief may overwrite the parent's temporaries at
// once.
#pragma once

#include "nopal/base/sanitizer.h"
#include "nopal/join/scope_frame.h"
#include "nopal/sched/sched.h"

#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace nopal::detail {

using join::offer;
using join::scope_frame;

// The System V convention passes such a value in registers; what it passes in memory would move the
// stack pointer of the call.
template <class T>
inline constexpr bool fits_registers =
    std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> &&
    std::is_trivially_destructible_v<T> &&
    (std::is_scalar_v<T> ? sizeof(T) <= 8
                         : std::is_empty_v<T> || (alignof(T) == 8 && sizeof(T) <= 16));

template <class T> inline constexpr bool in_vector_register = std::is_floating_point_v<T>;
template <class T>
inline constexpr std::size_t registers_of =
    std::is_empty_v<T> || in_vector_register<T> ? 0 : (sizeof(T) + 7) / 8;

// Two of the six general registers hold the scope and the thunk; a class may need vector registers
// as well as general ones, so it counts as both.
template <class... T>
inline constexpr bool travel_in_registers =
    (fits_registers<T> && ...) && (registers_of<T> + ... + 0) <= 4 &&
    (std::size_t{in_vector_register<T>} + ... + 0) +
            2 * (std::size_t{std::is_class_v<T>} + ... + 0) <=
        8;

template <class Body> void run_body(void* body) { (*static_cast<Body*>(body))(); }

// The child of one fork, and what follows it. The slow path begins anew, so that the fast one keeps
// nothing for it.
template <class Body> [[gnu::always_inline]] inline void run_opened(offer& of, Body& body) {
  try {
    base::call_body(body);
  } catch (...) {
    join::capture_failure(&of);
    goto failed;
  }
  if (!arch::current()->deque.pop(arch::address_of(of))) [[unlikely]]
    sched::settle(&of);
  return;
failed:
  sched::settle_failed(&of);
}

template <class Body>
[[gnu::noinline, gnu::cold]] NOPAL_THUNK void run_child_slow(scope_frame* scope, Body& body) {
  offer of{scope};
  if (!sched::fork_slow(&of, run_body<Body>, std::addressof(body)))
    run_opened(of, body);
}

template <class Body>
[[gnu::noinline, gnu::cold]] NOPAL_THUNK void run_child_called(offer& of, Body& body) {
  sched::attend();
  run_opened(of, body);
}

// Slow paths take a body by its address: of a copy, so that on the fast path its parts can stay in
// registers.
template <class Body, class Use>
[[gnu::always_inline]] inline void with_own(Body& body, const Use& use) {
  if constexpr (std::is_trivially_copyable_v<Body>) {
    Body copy{body};
    use(copy);
  } else {
    use(body);
  }
}

template <class Body> [[gnu::always_inline]] inline void run_child(scope_frame* scope, Body& body) {
  offer of{scope};
  vproc::worker* const self = arch::current();
  offer* const here = arch::address_of(of);
  if (!self->exceptions->alive() && self->deque.push(here)) [[likely]] {
    if (!self->deque.called(here)) [[likely]]
      return run_opened(of, body);
    return with_own(body, [&of](Body& own) NOPAL_IN_THUNK { run_child_called(of, own); });
  }
  with_own(body, [scope](Body& own) NOPAL_IN_THUNK { run_child_slow(scope, own); });
}

template <class F> [[gnu::noinline]] NOPAL_THUNK void value_thunk(scope_frame* scope, void*, F f) {
  auto child = [f]() mutable { std::invoke(f); };
  run_child(scope, child);
}

template <class R, class F, class... Args>
[[gnu::noinline]] NOPAL_THUNK void call_thunk(scope_frame* scope, void*, R* result, F f,
                                              Args... args) {
  auto child = [=]() mutable { *result = std::invoke(f, std::move(args)...); };
  run_child(scope, child);
}

// The closure must be gone before the child counts as finished, so it is destroyed by the call that
// runs it.
template <class F> struct run_and_destroy {
  union {
    F f;
  };
  explicit run_and_destroy(F&& from) : f(std::move(from)) {}
  ~run_and_destroy() {}
  run_and_destroy(const run_and_destroy&) = delete;
  run_and_destroy& operator=(const run_and_destroy&) = delete;

  void operator()() {
    struct end {
      F* f;
      ~end() { std::destroy_at(f); }
    } const at_end{std::addressof(f)};
    std::invoke(f);
  }
};

template <class F> [[gnu::noinline]] NOPAL_THUNK void moved_thunk(scope_frame* scope, void*, F* f) {
  if constexpr (std::is_class_v<F> && std::is_trivially_copyable_v<F> &&
                std::is_copy_constructible_v<F>) {
    F child{*f};
    run_child(scope, child);
  } else {
    run_and_destroy<F> child{std::move(*f)};
    run_child(scope, child);
  }
}

// One cast each: the stub has the thunk's type as far as its caller is concerned.
template <class Thunk, class... Args>
[[gnu::always_inline]] inline void through_stub(scope_frame* scope, Thunk* thunk, Args... args) {
  reinterpret_cast<Thunk*>(&arch::nopal_arch_fork)(scope, reinterpret_cast<void*>(thunk), args...);
}

template <class F> [[gnu::always_inline]] inline void call_stub(scope_frame* scope, F&& f) {
  using closure = std::decay_t<F>;
  if constexpr (travel_in_registers<closure>) {
    through_stub<void(scope_frame*, void*, closure)>(scope, value_thunk<closure>, f);
  } else {
    closure own{std::forward<F>(f)};
    through_stub<void(scope_frame*, void*, closure*)>(scope, moved_thunk<closure>,
                                                      std::addressof(own));
  }
}

template <class R, class F, class... Args>
[[gnu::always_inline]] inline void call_stub(scope_frame* scope, R* result, F&& f, Args&&... args) {
  using function = std::decay_t<F>;
  if constexpr (travel_in_registers<R*, function, std::decay_t<Args>...>) {
    through_stub<void(scope_frame*, void*, R*, function, std::decay_t<Args>...)>(
        scope, call_thunk<R, function, std::decay_t<Args>...>, result, function(f),
        std::decay_t<Args>(args)...);
  } else {
    call_stub(scope, [result, own = function(std::forward<F>(f)),
                      ... copies = std::decay_t<Args>(std::forward<Args>(args))]() mutable {
      *result = std::invoke(own, std::move(copies)...);
    });
  }
}

} // namespace nopal::detail
