// SPDX-License-Identifier: MIT
// The parts of Cilk Plus (fibril-spaa16, section 5): as Fibril's, but with a bound on stacks.
#pragma once

#define NOPAL_PARTS cilkplus
#define NOPAL_SCOPE_FRAME_HEADER "bench/baseline/eager_frame.h"
#define NOPAL_DEQUE_HEADER "bench/baseline/the.h"
#define NOPAL_DEQUE the
#define NOPAL_JOIN_HEADER "bench/baseline/locked.h"
#define NOPAL_JOIN locked
#define NOPAL_DEFAULT_STACK_BUDGET ::nopal::config::unlimited
#define NOPAL_DEFAULT_MAX_STACKS 2400
