// SPDX-License-Identifier: MIT
// The parts of Nowa (nowa-ipdps21): Chase and Lev's deque, the wait-free join.
#pragma once

#define NOPAL_PARTS nowa
#define NOPAL_SCOPE_FRAME_HEADER "bench/baseline/eager_frame.h"
#define NOPAL_DEQUE_HEADER "bench/baseline/chase_lev.h"
#define NOPAL_DEQUE chase_lev
#define NOPAL_JOIN_HEADER "nopal/join/wait_free.h"
#define NOPAL_JOIN wait_free
#define NOPAL_DEFAULT_STACK_BUDGET ::nopal::config::unlimited
#define NOPAL_DEFAULT_MAX_STACKS 0
