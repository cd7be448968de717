// SPDX-License-Identifier: MIT
// A strand that waits, as a model sees it: a thread, which waits as one that is no worker does.
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
  sync::choice woken_by;
  sync::thread_waker woken;
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
