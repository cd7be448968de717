// SPDX-License-Identifier: MIT
// Nowa with the deque THE (nowa-ipdps21, figure 9).
#pragma once

#define NOPAL_PARTS nowa_the
#define NOPAL_SCOPE_FRAME_HEADER "bench/baseline/eager_frame.h"
#define NOPAL_DEQUE_HEADER "bench/baseline/the.h"
#define NOPAL_DEQUE the
#define NOPAL_JOIN_HEADER "nopal/join/wait_free.h"
#define NOPAL_JOIN wait_free
#define NOPAL_DEFAULT_STACK_BUDGET ::nopal::config::unlimited
#define NOPAL_DEFAULT_MAX_STACKS 0
