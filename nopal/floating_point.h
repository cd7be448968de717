// SPDX-License-Identifier: MIT
// A guard within which a strand computes floating-point numbers in its own way.
//
//     {
//       nopal::floating_point guard{FE_UPWARD};   // rounds up from here ...
//       nopal::scope s;
//       s.fork(upper, bound, a);                  // ... in this child, in what it forks,
//       lower = -bound(-b);                       // and here, on whatever thread
//       s.join();
//     }                                           // ... to here
//
// Rounding, masks, precision and flush-to-zero (the control words, mxcsr and x87) belong to a
// computation: its strands have those with which its outermost fork, or its affine region, began. A
// guard changes them for the strand that declares it, and for what is forked while it lives, at any
// depth. Continuations of forks that were made before keep theirs. Code that changes the words
// without a guard restores them before it forks; a check build ends with a sentence if it does not.
//
// Forks within a guard take the slow path: about 60 ns each. The status flags (fetestexcept) stay
// with each thread. Thread rules: a local variable of any function, on any thread. Like the scopes
// of a function, guards and scopes end in the reverse order.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/config.h"
#if !defined(NOPAL_SERIAL)
#include "nopal/vproc/control.h"
#endif

#include <cfenv>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// A guard: while it lives, its strand and what that forks compute in this way.
/// @pre It is a local variable, and ends in the reverse order of its function's scopes and guards.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// A fork within takes about 60 ns.
class NOPAL_TYPE floating_point {
public:
  /// FE_TONEAREST, FE_UPWARD, FE_DOWNWARD or FE_TOWARDZERO. Ends the program with a sentence if the
  /// number is another.
  [[nodiscard]] explicit floating_point(int rounding) noexcept
      : floating_point([rounding] { set_rounding(rounding); }) {}
  /// What `change()` sets, for instance by _MM_SET_FLUSH_ZERO_MODE; it must not throw.
  template <std::invocable Change> [[nodiscard]] explicit floating_point(Change&& change) {
    std::forward<Change>(change)();
    note_change();
  }
  ~floating_point() {
    before_.use();
    note_change();
  }
  floating_point(const floating_point&) = delete;
  floating_point& operator=(const floating_point&) = delete;

private:
  static void set_rounding(int mode) noexcept {
    if (std::fesetround(mode) == 0)
      return;
    dprintf(
        2,
        "nopal: a nopal::floating_point guard was given %d, which is no rounding mode; accepted "
        "are FE_TONEAREST, FE_UPWARD, FE_DOWNWARD and FE_TOWARDZERO\n",
        mode);
    std::_Exit(70); // as base::die does, which the serial elision does without
  }
  static void note_change() noexcept {
#if !defined(NOPAL_SERIAL)
    vproc::note_control_change();
#endif
  }

  const arch::control_words before_ = arch::control_words::now();
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
