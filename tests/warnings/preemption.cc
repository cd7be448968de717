// SPDX-License-Identifier: MIT
// Where a strand may be preempted, and where not.
#include "nopal/preemption.h"

bool preemption_is_right() {
  const nopal::no_preemption none;
  nopal::poll();
  return true;
}
