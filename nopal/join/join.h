// SPDX-License-Identifier: MIT
// The join as the layers above see it: what a scope holds in its function's frame, and what a thunk
// holds in its own while its child runs.
#pragma once

#include "nopal/config.h"
#include NOPAL_SCOPE_FRAME_HEADER
