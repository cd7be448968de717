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
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process::inline on_threads {

template <class T> class NOPAL_TYPE task {
  using kept = std::conditional_t<std::is_void_v<T>, detail::nothing, T>;

public:
  template <class F, class... Args>
  [[gnu::always_inline]] inline explicit task(std::in_place_t, F f, Args... args) {
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

template <class F, class... Args>
  requires std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>...>
[[gnu::always_inline]] inline task<detail::result_of<F, Args...>> spawn(F&& f, Args&&... args) {
  detail::check_isolated<F, Args...>();
  return task<detail::result_of<F, Args...>>{std::in_place, std::decay_t<F>(std::forward<F>(f)),
                                             std::decay_t<Args>(std::forward<Args>(args))...};
}

template <class T> [[gnu::always_inline]] inline T join(task<T>& spawned) { return spawned.join(); }

class NOPAL_TYPE session {
public:
  session(int, char**, const options& = {}) noexcept {}
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  unsigned rank() const noexcept { return 0; }
  unsigned size() const noexcept { return 1; }

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
