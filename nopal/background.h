// SPDX-License-Identifier: MIT
// Work that nobody waits for: functions that any thread hands to Nopal's workers, and computations
// that a coroutine awaits.
//
//     nopal::background workers;
//     workers.submit([] { log(fib(30)); });              // returns at once
//
//     task<long> answer() {                              // a coroutine type of any library
//       long x = co_await workers.call(fib, 30);         // forks; no thread waits meanwhile
//       co_return x + 1;                                 // on a worker, where fib(30) has ended
//     }
//
// Each function is a fiber of its own: it may fork, wait (channel.h, mutex.h) and block
// (blocking.h), and has a fiber's stack (NOPAL_FIBER_STACK_SIZE). Where it ends, the coroutine goes
// on in the same fiber, until it waits for something else or ends. So what it calls may fork as
// well; a coroutine itself has no scope (fork.h).
//
// One thread more than num_workers() counts belongs to each object; it runs what was submitted, and
// nothing else.
#pragma once

#include "nopal/config.h"

#if defined(NOPAL_SERIAL)
#error "nopal/background.h: what runs beside its caller has no serial elision"
#endif

#include "nopal/base/closure.h"
#include "nopal/concepts.h"
#include "nopal/fiber.h"
#include "nopal/future.h"
#include "nopal/join/failure.h"

#include <coroutine>
#include <exception>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

class background;

namespace detail {

// What co_await is given: calls the function in a fiber, which then resumes the coroutine. It lies
// in the coroutine's frame.
template <class F> class awaited_call {
public:
  using result = std::invoke_result_t<F&>;

  awaited_call(const nopal::background& on, F f) : on_{on}, f_{std::move(f)} {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller);
  result await_resume() {
    if (thrown_ != nullptr)
      std::rethrow_exception(std::move(thrown_));
    if constexpr (std::is_reference_v<result>)
      return static_cast<result>(**returned_);
    else if constexpr (!std::is_void_v<result>)
      return *std::move(returned_);
  }

private:
  using place = std::conditional_t<
      std::is_void_v<result>, std::monostate,
      std::conditional_t<std::is_reference_v<result>, std::add_pointer_t<result>, result>>;

  void run() noexcept {
    try {
      if constexpr (std::is_void_v<result>) {
        f_();
      } else if constexpr (std::is_reference_v<result>) {
        result&& refers = f_();
        returned_.emplace(std::addressof(refers));
      } else {
        returned_.emplace(f_());
      }
    } catch (...) {
      thrown_ = join::handled_exception();
    }
  }

  const nopal::background& on_;
  F f_;
  std::optional<place> returned_;
  std::exception_ptr thrown_;
};

} // namespace detail

/// Runs functions as fibers, beside the threads that submit them. Its end waits for all of them.
/// @pre What is submitted has begun, and the coroutines that it resumes have ended, before no
/// thread may use the object any more.
/// @throws std::system_error, when it is made, if there is no thread for it.
/// @par Threads
/// `submit` and `call` any thread, any strand, several at a time; the end a thread, or a strand,
/// that none of the functions waits for.
class NOPAL_TYPE background {
public:
  background() : thread_{[this] { serve(); }} { open_.wait(); }
  ~background() {
    close_.set();
    thread_.join();
  }
  background(const background&) = delete;
  background& operator=(const background&) = delete;

  /// A copy of f, with copies of the arguments, is called in a fiber. What it throws ends the
  /// program (std::terminate), since nobody would learn of it.
  template <class F, class... Args>
    requires forkable<F, Args...>
  void submit(F&& f, Args&&... args) const {
    into_->spawn(
        [own = base::closure_of(std::forward<F>(f),
                                std::forward<Args>(args)...)]() mutable noexcept { own(); });
  }

  /// To be awaited: co_await gives what a copy of f returns, or throws what it throws; the
  /// coroutine goes on in the fiber that has called f.
  template <class F, class... Args>
    requires forkable<F, Args...>
  [[nodiscard]] auto call(F&& f, Args&&... args) const {
    auto own = base::closure_of(std::forward<F>(f), std::forward<Args>(args)...);
    return detail::awaited_call<decltype(own)>{*this, std::move(own)};
  }

private:
  void serve() {
    nopal::run([this] {
      into_.emplace();
      open_.count_down();
      close_.get();
      into_.reset();
    });
  }

  std::optional<spawner> into_;
  std::latch open_{1};
  ivar<void> close_;
  std::thread thread_;
};

namespace detail {

template <class F> void awaited_call<F>::await_suspend(std::coroutine_handle<> caller) {
  on_.submit([this, caller] {
    run();
    caller.resume(); // this object may be gone now
  });
}

} // namespace detail

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
