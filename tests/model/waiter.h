// SPDX-License-Identifier: MIT
// A strand that waits, as a model sees it: a thread, which waits as one that is no worker does.
#pragma once

#include "strand.h"

#include "nopal/vproc/choice.h"
#include "nopal/vproc/queues.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::model {

struct waiter {
  base::handed_over<waiter*> next{nullptr};
  base::handed_over<waiter*> next_waiting{nullptr};
  vproc::choice woken_by;
  vproc::thread_waker woken;
  strand work;
  int home = 0;

  bool claim() noexcept { return woken_by.claim(0); }

  // It is gone once it was woken.
  void wait() noexcept {
    woken.wait();
    next = nullptr;
    next_waiting = nullptr;
  }
};

} // namespace nopal::model
NOPAL_HIDDEN_END
