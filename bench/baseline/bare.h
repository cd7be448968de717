// SPDX-License-Identifier: MIT
// Nopal, but forks record no floating-point control words: what those cost.
#pragma once

#define NOPAL_PARTS bare
#define NOPAL_SCOPE_FRAME_HEADER "nopal/join/lazy_frame.h"
#define NOPAL_DEQUE_HEADER "nopal/deque/stack_map.h"
#define NOPAL_DEQUE stack_map
#define NOPAL_DEFAULT_STACK_BUDGET (std::size_t{64} << 20)
#define NOPAL_DEFAULT_MAX_STACKS 0
#define NOPAL_FORK_RECORDS_CONTROL(instructions)
#define NOPAL_STEAL_RECORDS_CONTROL(statement) statement
