// SPDX-License-Identifier: MIT
// The exception that unwinds a cancelled strand (nopal/cancel.h).
#pragma once

#include "nopal/config.h"

#include <exception>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

#if defined(NOPAL_CHECKS) && !defined(NOPAL_SERIAL)
namespace join {
// Called when a handler ends that has caught `cancelled` and has not thrown it on.
extern void (*after_handler)() noexcept;
} // namespace join
#endif

// Thrown by joins, polls, waits and loops of a computation that is cancelled. A handler that
// catches it throws it again when the handler has done its work; else the next join or poll throws
// another one.
class cancelled final : public std::exception {
public:
  const char* what() const noexcept override {
    return "a computation was cancelled, and this function may have no exception leave it: let it "
           "and its callers throw (no noexcept, no destructor that joins, unwind tables), or catch "
           "nopal::cancelled where the computation was begun";
  }

#if defined(NOPAL_CHECKS) && !defined(NOPAL_SERIAL)
  cancelled() noexcept {}
  cancelled(const cancelled& other) noexcept : std::exception{other}, kept_{true} {}
  cancelled& operator=(const cancelled&) = delete;
  ~cancelled() override {
    if (!kept_)
      join::after_handler();
  }
  // Called by the join, or the end of a fiber, that has caught it and keeps it.
  void note_kept() const noexcept { kept_ = true; }

private:
  mutable bool kept_ = false;
#else
  void note_kept() const noexcept {}
#endif
};

/// The reason of what was cancelled because its deadline had come (cancel_reason in cancel.h).
class deadline_passed final : public std::exception {
public:
  const char* what() const noexcept override {
    return "a computation was cancelled, since its deadline has passed";
  }
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
