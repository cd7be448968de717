// SPDX-License-Identifier: MIT
// Fibers: strands that run beside one another, and talk through channels (channel.h).
//
//     nopal::channel<int> squares;
//     nopal::run([&] {                         // returns when all that it spawned has ended
//       nopal::spawn([&] { for (int i = 0; i < 9; ++i) squares.send(i * i); });
//       for (int i = 0; i < 9; ++i)
//         use(squares.recv());
//     });
//
// A fork says that two things may run at the same time, a spawn that they must be able to: one may
// wait for the other. So a program with fibers has no serial elision, but one thread is enough for
// any number of them. A fiber may fork, and continue on another thread after a fork, a join or a
// wait; it may hold a nopal::mutex, enter affine regions, and block (blocking.h).
//
// A fiber that waits is taken from its thread, which runs another one; those that are ready run in
// the order in which they became so, before any continuation is stolen. Nothing takes the thread
// from a fiber that neither waits nor ends: a long computation calls `yield` now and then, if others
// must not wait for it.
//
// Memory: a fiber takes a stack when it first runs, and at most that many may have begun and not
// ended as stacks exist (docs/limits.md).
#pragma once

#include "nopal/config.h"

#if defined(NOPAL_SERIAL)
#error "nopal/fiber.h: fibers wait for one another, so a program with fibers has no serial elision"
#endif

#include "nopal/affine.h"
#include "nopal/sched/fibers.h"

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace nopal::inline NOPAL_ABI {

namespace detail {

template <class F> struct spawned_function : sched::spawned {
  explicit spawned_function(F&& from) : spawned{call_and_free}, f(std::move(from)) {}
  explicit spawned_function(const F& from) : spawned{call_and_free}, f(from) {}

  static void call_and_free(spawned* self) {
    const std::unique_ptr<spawned_function> own{static_cast<spawned_function*>(self)};
    std::invoke(std::move(own->f));
  }

  F f;
};

// The function that `run` is given, and what it returns or throws.
template <class F> class body : public sched::spawned {
public:
  using result = std::invoke_result_t<F>;

  explicit body(F&& from) noexcept : spawned{call_function}, f_{from} {}

  void run() {
    if (sched::on_strand())
      sched::run_body(this, &fibers_);
    else
      affine([this] { sched::run_body(this, &fibers_); });
    sched::rethrow(thrown_, fibers_);
  }
  result take() {
    if constexpr (std::is_reference_v<result>)
      return static_cast<result>(*returned_);
    else if constexpr (!std::is_void_v<result>)
      return *std::move(returned_);
  }

private:
  static void call_function(spawned* self) {
    auto* const one = static_cast<body*>(self);
    try {
      one->call();
    } catch (...) {
      one->thrown_ = join::handled_exception();
    }
  }
  void call() {
    if constexpr (std::is_void_v<result>) {
      std::invoke(std::forward<F>(f_));
    } else if constexpr (std::is_reference_v<result>) {
      result&& refers = std::invoke(std::forward<F>(f_));
      returned_ = std::addressof(refers);
    } else {
      returned_.emplace(std::invoke(std::forward<F>(f_)));
    }
  }

  using place =
      std::conditional_t<std::is_void_v<result>, std::monostate,
                         std::conditional_t<std::is_reference_v<result>, std::add_pointer_t<result>,
                                            std::optional<result>>>;

  std::remove_reference_t<F>& f_;
  vproc::computation fibers_;
  [[no_unique_address]] place returned_{};
  std::exception_ptr thrown_;
};

} // namespace detail

// Calls f, and returns what f does when all fibers have ended that were spawned in f. What the
// fibers use has to live until then, so channels are declared before. If f throws, its exception
// leaves `run` then; else the exception of the fiber that failed first.
//
// f is called as a fiber of its own: with the caller's errno and floating-point control, but in no
// handler of the caller's. On a thread that runs no strands, `run` returns on that thread, as an
// affine region does; in a strand perhaps on another one, as a fork does. Thread rules: any thread,
// any strand.
template <class F>
  requires std::is_invocable_v<F>
std::invoke_result_t<F> run(F&& f) {
  detail::body<F> here{std::forward<F>(f)};
  here.run();
  return here.take();
}

// Begins a fiber that calls a copy of f, in the innermost region of `run` that the caller is in. It
// computes with the floating-point control of that region. Thread rules: any strand of a region;
// elsewhere it ends the program with a sentence.
template <class F>
  requires std::is_invocable_v<std::decay_t<F>>
void spawn(F&& f) {
  sched::spawn(new detail::spawned_function<std::decay_t<F>>(std::forward<F>(f)));
}

// Lets those run that are ready, and goes on after them. Returns at once if none is.
using sched::yield;

} // namespace nopal::inline NOPAL_ABI
