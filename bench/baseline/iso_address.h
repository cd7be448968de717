// SPDX-License-Identifier: MIT
// Iso-address (uni-address-hpdc15, section 4), with which Nopal is compared: each process has a
// region of its own, at addresses that all processes have reserved, and a task keeps the addresses
// at which it began.
#pragma once

#define NOPAL_PARTS iso_address
#define NOPAL_SCOPE_FRAME_HEADER "nopal/join/scope_frame.h"
#define NOPAL_DEQUE_HEADER "nopal/deque/stack_map.h"
#define NOPAL_DEQUE stack_map
#define NOPAL_PROCESS_REGIONS 1
#define NOPAL_DEFAULT_STACK_BUDGET (std::size_t{64} << 20)
#define NOPAL_DEFAULT_MAX_STACKS 0
