// SPDX-License-Identifier: MIT
// The floating-point control words of a strand, other than its group's (nopal/floating_point.h).
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// The calling strand has changed its control words, or brought them back: tells the worker whether
// the strand still computes as its group does. No effect on a thread that runs no strand.
void note_control_change() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
