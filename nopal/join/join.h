// SPDX-License-Identifier: MIT
// What a scope holds in its function's frame, and a thunk in its own while its child runs.
#pragma once

#include "nopal/config.h"
#include NOPAL_SCOPE_FRAME_HEADER

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

class cancelable;

// The frame of a cancel_scope, whose children obey a node that outlives them; or, with null, of
// `shielded`, whose children do not obey the nodes above them.
struct NOPAL_TYPE region_frame : scope_frame {
  cancelable* region = nullptr;
};

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
