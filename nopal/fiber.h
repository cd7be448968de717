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
// A fiber that waits is taken from its thread, which runs another one. Those that become ready on
// a thread run there in the order in which they became so, before any continuation is stolen; a
// thread without work takes what another one keeps from running. A fiber that runs long gives way
// to others at a fork or a poll (preemption.h).
//
// Memory: a fiber takes a small stack when it first runs (NOPAL_FIBER_STACK_SIZE, of which it has
// as many pages as it has touched), so a million may have begun and not ended (docs/limits.md). The
// function that `run` is given has a large one, and so has what is stolen.
#pragma once

#include "nopal/config.h"

#if defined(NOPAL_SERIAL)
#error "nopal/fiber.h: fibers wait for one another, so a program with fibers has no serial elision"
#endif

#include "nopal/affine.h"
#include "nopal/base/closure.h"
#include "nopal/concepts.h"
#include "nopal/fibers/actions.h"
#include "nopal/fibers/fibers.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/given.h"
#include "nopal/vproc/computation.h"
#include "nopal/vproc/context.h"
#include "nopal/vproc/ready.h"

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

class fiber;

namespace detail {

struct fiber_access;

template <class F> struct spawned_function : fibers::spawned {
  template <class From>
  explicit spawned_function(From&& from) : spawned{call_it, free_it}, f(std::forward<From>(from)) {}

  static void call_it(spawned* self) {
    base::call(std::move(static_cast<spawned_function*>(self)->f));
  }
  static void free_it(spawned* self) noexcept { delete static_cast<spawned_function*>(self); }

  F f;
};

// The function that `run` is given, and what it returns or throws.
template <class F> class body : public fibers::spawned {
public:
  using result = std::invoke_result_t<F>;

  explicit body(F&& from) noexcept : spawned{call_function, lives_on}, f_{from} {}

  vproc::computation& fibers() noexcept { return fibers_; }

  void run() {
    if (vproc::on_strand())
      fibers::run(this, &fibers_);
    else
      affine([this] { fibers::run(this, &fibers_); });
    fibers::rethrow(thrown_, fibers_);
  }
  result take() {
    if constexpr (std::is_reference_v<result>)
      return static_cast<result>(*returned_);
    else if constexpr (!std::is_void_v<result>)
      return *std::move(returned_);
  }

private:
  static void call_function(spawned* self) {
    auto* const called = static_cast<body*>(self);
    try {
      called->call();
    } catch (...) {
      called->thrown_ = join::handled_exception();
      fibers::stop_others(called->fibers_, called->thrown_);
    }
  }
  static void lives_on(spawned*) noexcept {}
  void call() {
    if constexpr (std::is_void_v<result>) {
      base::call(std::forward<F>(f_));
    } else if constexpr (std::is_reference_v<result>) {
      result&& refers = base::call(std::forward<F>(f_));
      returned_ = std::addressof(refers);
    } else {
      returned_.emplace(base::call(std::forward<F>(f_)));
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

/// Calls f, and returns what f does when all fibers have ended that were spawned in f. What the
/// fibers use has to live until then, so channels are declared before. If f throws, what it has
/// spawned and has not ended is cancelled (cancel.h), and its exception leaves `run` then; else the
/// exception of the fiber that failed first. That one cancels no other fiber: fiber_group does.
///
/// f is called as a fiber of its own: with the caller's errno and floating-point control, but in no
/// handler of the caller's. On a thread that runs no strands, `run` returns on that thread, as an
/// affine region does; in a strand perhaps on another one, as a fork does.
/// @par Threads
/// Any thread, any strand.
template <class F>
  requires callable<F>
typename detail::result_of_call<F>::type run(F&& f) {
  detail::body<F> body{std::forward<F>(f)};
  body.run();
  return body.take();
}

/// A fiber that does not run: one that has not begun, or one that a scheduler was told of. It must
/// be run, by `start` or by a scheduler; to forget it ends the program with a sentence, since
/// others wait for it.
class NOPAL_TYPE fiber {
public:
  fiber() noexcept = default; // none
  fiber(fiber&& other) noexcept : fiber_{std::exchange(other.fiber_, nullptr)} {}
  fiber& operator=(fiber&& other) noexcept {
    std::swap(fiber_, other.fiber_);
    return *this;
  }
  ~fiber() {
    if (fiber_ != nullptr)
      fibers::fiber_was_dropped();
  }

  explicit operator bool() const noexcept { return fiber_ != nullptr; }
  /// Whether it yielded or was preempted. False: it is new, or has waited.
  [[nodiscard]] bool gave_way() const noexcept { return fiber_ != nullptr && fiber_->gave_way(); }

  /// It may run, where its computation's scheduler decides. Any thread.
  void start() && noexcept;

private:
  friend detail::fiber_access;
  explicit fiber(vproc::fiber* held) noexcept : fiber_{held} {}

  vproc::fiber* fiber_ = nullptr;
};

namespace detail {

// What the other headers of the interface do with a fiber.
struct fiber_access {
  static fiber make(vproc::fiber* held) noexcept { return fiber{held}; }
  // Ends the program with a sentence if there is none.
  static vproc::fiber* take(fiber& from) noexcept {
    if (from.fiber_ == nullptr)
      fibers::fiber_was_used();
    return take_any(from);
  }
  // Null if there is none.
  static vproc::fiber* take_any(fiber& from) noexcept {
    return std::exchange(from.fiber_, nullptr);
  }
  static vproc::fiber_context& context(const fiber& owner) noexcept {
    if (owner.fiber_ == nullptr)
      fibers::fiber_was_used();
    if (owner.fiber_->context == nullptr)
      fibers::no_current_fiber(); // a strand outside nopal::run that an action was given
    return *owner.fiber_->context;
  }
};

} // namespace detail

/// It may run, where its computation's scheduler decides.
inline void fiber::start() && noexcept { vproc::make_ready(detail::fiber_access::take(*this)); }

/// A fiber of the computation that the caller is in, which does not run yet. As for spawn.
template <class F>
  requires spawnable<F>
[[nodiscard]] fiber make_fiber(F&& f) {
  auto* const made = new detail::spawned_function<std::decay_t<F>>(std::forward<F>(f));
  fibers::join_computation(made);
  NOPAL_IF_CHECKED(sched::check_given(sched::given_to::fiber, made->f));
  return detail::fiber_access::make(made);
}

/// A value of each fiber's own, which all its strands share: `initial` until it is set.
///
///     nopal::fiber_local<int> depth{0};                // a static object, or one that outlives
///     depth.value() += 1;                              // the fibers that use it
/// @par Threads
/// `value` in a strand of nopal::run; `value_of` by the holder of the fiber. Strands of one fiber
/// that run at the same time share the value as they share other variables.
template <class T> class NOPAL_TYPE fiber_local {
public:
  explicit fiber_local(T initial = {}) : initial_(std::move(initial)) {}
  fiber_local(const fiber_local&) = delete;
  fiber_local& operator=(const fiber_local&) = delete;

  T& value() {
    vproc::fiber_context* const context = sched::current_context();
    if (context == nullptr)
      fibers::no_current_fiber();
    return in(*context);
  }
  T& value_of(const fiber& owner) { return in(detail::fiber_access::context(owner)); }

private:
  using locals = sync::fiber_locals;
  struct entry : locals::value {
    entry(const void* variable, const T& initial)
        : locals::value{variable, destroy_it}, content(initial) {}
    static void destroy_it(locals::value* self) noexcept { delete static_cast<entry*>(self); }
    T content;
  };

  T& in(vproc::fiber_context& context) {
    if (locals::value* const found = context.locals.find(this))
      return static_cast<entry*>(found)->content;
    auto made = std::make_unique<entry>(this, initial_);
    locals::value* const kept = context.locals.find_or_add(made.get());
    if (kept == made.get())
      made.release();
    return static_cast<entry*>(kept)->content;
  }

  const T initial_;
};

/// Begins a fiber that calls a copy of f, in the innermost region of `run` that the caller is in.
/// It computes with the floating-point control of that region. Nothing is left of it in the
/// caller's hands: nopal::task (fiber_group.h) has a result, and can be joined and cancelled.
/// @par Threads
/// Any strand of a region; elsewhere it ends the program with a sentence.
template <class F>
  requires spawnable<F>
void spawn(F&& f) {
  make_fiber(std::forward<F>(f)).start();
}

/// The same with copies of f and of the arguments, or what is moved: f(args...).
template <class F, class... Args>
  requires(sizeof...(Args) > 0) && forkable<F, Args...>
void spawn(F&& f, Args&&... args) {
  spawn(base::closure_of(std::forward<F>(f), std::forward<Args>(args)...));
}

/// Spawns into the computation in which it was made, from any thread: `nopal::run` does not return
/// as long as one exists.
///
///     nopal::run([&] {
///       auto into = std::make_shared<nopal::spawner>();
///       library.on_event([into] { into->spawn(handle); });      // called by the library's thread
///     });
/// @pre Checked: it is made in a strand of nopal::run.
/// @par Threads
/// `spawn` any thread, several at a time.
class NOPAL_TYPE spawner {
public:
  template <class F, class... Args>
    requires forkable<F, Args...>
  void spawn(F&& f, Args&&... args) const {
    auto call = base::closure_of(std::forward<F>(f), std::forward<Args>(args)...);
    auto* const made = new detail::spawned_function<decltype(call)>(std::move(call));
    computation_.join(made);
    detail::fiber_access::make(made).start();
  }

private:
  fibers::kept_open computation_;
};

/// Lets those run that are ready, and goes on after them. Returns at once if none is.
/// @throws cancelled if the strand is cancelled; so do all that wait, and `run`.
using fibers::yield;

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
