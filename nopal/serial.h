// SPDX-License-Identifier: MIT
// The serial elision of fork.h: a fork is a call, a join is nothing. Chosen by NOPAL_SERIAL.
#pragma once

#include "nopal/base/closure.h"
#include "nopal/concepts.h"
#include "nopal/config.h"
#include "nopal/refused_forks.h"

#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// The serial elision of scope.h: a fork is a call, and a join does nothing.
/// @throws from `fork` what the child throws.
class NOPAL_TYPE scope : public detail::refused_forks {
public:
  scope() = default;
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  using detail::refused_forks::fork;
  template <class F, class... Args>
    requires forkable<F, Args...>
  [[gnu::always_inline]] inline void fork(F&& f, Args&&... args) {
    auto child = copy(std::forward<F>(f), std::forward<Args>(args)...);
    static_cast<void>(child());
  }

  template <class R, class F, class... Args>
    requires forkable_into<R, F, Args...>
  [[gnu::always_inline]] inline void fork(R& result, F&& f, Args&&... args) {
    auto child = copy(std::forward<F>(f), std::forward<Args>(args)...);
    result = child(); // while the copies live, since the result may refer to them
  }

  void join() noexcept {}

private:
  // A temporary function object whose destructor may throw is not copied. If the copy's destructor
  // threw, the temporary's would throw during the unwinding and end the program; after a parallel
  // fork one of the two exceptions can be caught.
  template <class F, class... Args>
  [[gnu::always_inline]] static inline auto copy(F&& f, Args&&... args) {
    if constexpr (std::is_lvalue_reference_v<F> || std::is_const_v<F> ||
                  std::is_nothrow_destructible_v<F>)
      return base::closure_of(std::forward<F>(f), std::forward<Args>(args)...);
    else
      return base::closure_of(
          [&f](auto&&... parts) -> decltype(auto) {
            return base::call(f, std::forward<decltype(parts)>(parts)...);
          },
          std::forward<Args>(args)...);
  }
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
