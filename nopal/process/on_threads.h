// SPDX-License-Identifier: MIT
// spawn and join on the threads of one process, and in the serial elision: for the same programs,
// compiled with NOPAL_PROCESS_ON_THREADS or NOPAL_SERIAL.
//
// A task is a scope with one child. So it is a local variable of the function that spawns it, and
// the tasks of a function are joined in the reverse order of their spawns.
#pragma once

#include "nopal/config.h"
#include "nopal/fork.h"
#include "nopal/process/isolated.h"
#include "nopal/process/options.h"
#include "nopal/process/remote_error.h"

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process::inline on_threads {

/// A task that was spawned and not yet joined: a variable of the function that spawned it.
/// @par Threads
/// Any thread; the strand that spawned it.
template <class T> class [[nodiscard]] NOPAL_TYPE task {
  using kept = detail::kept_of<T>;

public:
  /// For `spawn`.
  template <class F, class... Args>
  [[gnu::always_inline]] inline explicit task(std::in_place_t, F f, Args... args) {
    detail::check_isolated<F, Args...>();
    scope_.fork(
        [](std::optional<kept>* to, std::exception_ptr* thrown, F g, Args... given) {
          auto body = detail::isolated_closure(g, given...);
          try {
            to->emplace(detail::call(body));
          } catch (...) {
            *thrown = std::make_exception_ptr(remote_error_of_current());
          }
        },
        &result_, &thrown_, f, args...);
  }

  /// For the function `join`.
  [[gnu::always_inline]] inline T join() {
    scope_.join();
    if (thrown_ != nullptr)
      std::rethrow_exception(thrown_);
    if constexpr (!std::is_void_v<T>)
      return *result_;
  }

private:
  std::optional<kept> result_;
  std::exception_ptr thrown_;
  nopal::scope scope_; // joins before the others end
};

/// Runs f(args...) as a child, now. Another thread may take the rest of the caller meanwhile. What
/// the child throws, the join of its task throws.
/// @pre The function, the arguments and the result are trivially copyable, which is checked.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// That of a fork (nopal/fork.h).
template <class F, class... Args>
[[gnu::always_inline]] inline task<detail::result_of<F, Args...>> spawn(F&& f, Args&&... args) {
  return task<detail::result_of<F, Args...>>{std::in_place, std::forward<F>(f),
                                             std::forward<Args>(args)...};
}

/// Waits until the task has ended, and returns its result.
/// @pre The caller has spawned the task, and has joined all that it has spawned since.
/// @throws remote_error if the task has thrown.
/// @par Threads
/// The strand that spawned the task.
/// @par Cost
/// That of a join (nopal/fork.h).
template <class T> [[gnu::always_inline]] inline T join(task<T>& spawned) { return spawned.join(); }

/// The one process of the program, in the place of several.
/// @par Threads
/// Any thread.
class NOPAL_TYPE session {
public:
  session(int, char**, const options& = {}) noexcept {}
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  unsigned rank() const noexcept { return 0; }
  unsigned size() const noexcept { return 1; }

  /// Returns f(args...).
  /// @pre The function, the arguments and the result are trivially copyable, which is checked.
  /// @throws remote_error if f throws.
  template <class F, class... Args> auto run(F f, Args... args) {
    detail::check_isolated<F, Args...>();
    auto body = detail::isolated_closure(f, args...);
    try {
      return body();
    } catch (...) {
      throw remote_error_of_current();
    }
  }
};

} // namespace nopal::inline NOPAL_ABI::process::inline on_threads
NOPAL_HIDDEN_END
