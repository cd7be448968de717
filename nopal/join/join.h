// SPDX-License-Identifier: MIT
// What a scope holds in its function's frame, and a thunk in its own while its child runs.
#pragma once

#include "nopal/config.h"
#include NOPAL_SCOPE_FRAME_HEADER

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

class cancelable;

// Of a scope whose children can be cancelled; or, without a region, of one whose children are
// shielded from what cancels the strand that forks them. It lives as long as they run.
struct NOPAL_TYPE region_frame : scope_frame {
  cancelable* region = nullptr;
};

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
