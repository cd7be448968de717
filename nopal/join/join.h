// SPDX-License-Identifier: MIT
// What a scope holds in its function's frame, and a thunk in its own while its child runs.
#pragma once

#include "nopal/config.h"
#include NOPAL_SCOPE_FRAME_HEADER
