// SPDX-License-Identifier: MIT
// The parts of uni-address threads (uni-address-hpdc15): the deque between processes is THE, with a
// lock that thieves take by a remote operation.
#pragma once

#define NOPAL_PARTS uni_address
#define NOPAL_SCOPE_FRAME_HEADER "nopal/join/scope_frame.h"
#define NOPAL_DEQUE_HEADER "nopal/deque/stack_map.h"
#define NOPAL_DEQUE stack_map
#define NOPAL_PROCESS_QUEUE_HEADER "bench/baseline/remote_the.h"
#define NOPAL_DEFAULT_STACK_BUDGET (std::size_t{64} << 20)
#define NOPAL_DEFAULT_MAX_STACKS 0
