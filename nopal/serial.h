// SPDX-License-Identifier: MIT
//
// The serial elision of fork.h: a fork is a call, a join is nothing. Chosen by NOPAL_SERIAL.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace nopal {

class scope {
public:
  scope() = default;
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  template <class F, class... Args>
    requires std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>...>
  [[gnu::always_inline]] inline void fork(F&& f, Args&&... args) {
    std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
  }

  template <class R, class F, class... Args>
    requires std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>...>
  [[gnu::always_inline]] inline void fork(R& result, F&& f, Args&&... args) {
    result = std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
  }

  void join() noexcept {}
};

} // namespace nopal
