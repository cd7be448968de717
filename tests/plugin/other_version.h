// SPDX-License-Identifier: MIT
// Named by NOPAL_BASELINE: Nopal's own parts under other names, as a later version might have.
#pragma once

#define NOPAL_PARTS other_version
#define NOPAL_SCOPE_FRAME_HEADER "nopal/join/scope_frame.h"
#define NOPAL_DEQUE_HEADER "nopal/deque/stack_map.h"
#define NOPAL_DEQUE stack_map
#define NOPAL_DEFAULT_STACK_BUDGET (std::size_t{64} << 20)
#define NOPAL_DEFAULT_MAX_STACKS 0
