// SPDX-License-Identifier: MIT
// A fiber as the wait lists see it.
#pragma once

#include "nopal/config.h"
#include "nopal/sync/choice.h"

#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal_test {

struct waiter {
  waiter* next = nullptr;
  waiter* next_waiting = nullptr;
  waiter* next_idle = nullptr;
  nopal::sync::choice waits;

  bool claim() noexcept { return waits.claim(0); }
  void cancel() noexcept { waits.claim(nopal::sync::choice::cancelled); }
};

// All waiters of a chain that a list has returned.
inline std::vector<waiter*> all_from(waiter* first) {
  std::vector<waiter*> all;
  for (waiter* at = first; at != nullptr; at = at->next_waiting)
    all.push_back(at);
  return all;
}
using waiters = std::vector<waiter*>;

} // namespace nopal_test
NOPAL_HIDDEN_END
