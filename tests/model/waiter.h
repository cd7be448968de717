// SPDX-License-Identifier: MIT
// A strand that waits. In a model it is a thread, and waits as a thread does that is no worker.
#pragma once

#include "strand.h"

#include "nopal/sync/choice.h"
#include "nopal/sync/permit_queue.h"
#include "nopal/sync/shared_queue.h"
#include "nopal/sync/thread_waker.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::model {

struct waiter {
  base::handed_over<waiter*> next{nullptr};
  base::handed_over<waiter*> next_waiting{nullptr};
  base::handed_over<waiter*> before_waiting{nullptr};
  sync::choice woken_by;
  sync::thread_waker woken;
  strand work;
  int home = 0;

  bool claim() noexcept { return woken_by.claim(0); }

  // Writes over itself after it was woken, so a waker that touches it later is a data race.
  void wait() noexcept {
    woken.wait();
    next = nullptr;
    next_waiting = nullptr;
  }
};

} // namespace nopal::model
NOPAL_HIDDEN_END
