// SPDX-License-Identifier: MIT
// What an alarm does when it rings.
#include "nopal/cancel/alarms.h"

#include "nopal/cancel/cancel.h"

namespace nopal::inline NOPAL_ABI::cancel {

void alarm::ring(vproc::alarm* due) noexcept {
  auto* const own = static_cast<alarm*>(due);
  cancel(*own->node_);
  own->rung();
}

} // namespace nopal::inline NOPAL_ABI::cancel
