// SPDX-License-Identifier: MIT
// The parts of Fibril (fibril-spaa16): the deque THE, a locked join, pages given back.
#pragma once

#define NOPAL_PARTS fibril
#define NOPAL_SCOPE_FRAME_HEADER "bench/baseline/eager_frame.h"
#define NOPAL_DEQUE_HEADER "bench/baseline/the.h"
#define NOPAL_DEQUE the
#define NOPAL_JOIN_HEADER "bench/baseline/locked.h"
#define NOPAL_JOIN locked
#define NOPAL_DEFAULT_STACK_BUDGET 0
#define NOPAL_DEFAULT_MAX_STACKS 0
