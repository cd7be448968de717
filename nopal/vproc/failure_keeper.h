// SPDX-License-Identifier: MIT
// What keeps exceptions of fibers until somebody asks for them (kept_failures.h).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct kept_failure;

// Of one computation, group or task.
class kept_failures {
public:
  kept_failures() noexcept = default;
  kept_failures(const kept_failures&) = delete;
  kept_failures& operator=(const kept_failures&) = delete;
  ~kept_failures() { given(); }

  // Called in the handler of an exception that is kept. Any thread.
  void keep() noexcept;
  // They were given to who asked, or are dropped. Precondition: nobody keeps one meanwhile.
  void given() noexcept {
    if (first_ != nullptr) [[unlikely]]
      forget();
  }

private:
  void forget() noexcept;

  base::handed_over<kept_failure*> first_{nullptr}; // a lock guards it: see kept_failures.cc
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
