// SPDX-License-Identifier: MIT
// The engine between machines whose network has no memory access of its own: messages over TCP,
// which a thread of the other process answers (tcp_answers.h). Each process has a connection to
// each one that it asks, made when it first asks.
//
// UCX's own TCP is not used. Whoever reaches its port can write to any address of the process, with
// whatever features UCX was begun (docs/decisions.md).
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/tcp_places.h"
#include "nopal/process/transport/transport.h"

#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Collective. The block is mapped. `chosen` are the addresses to listen at (tcp_places.h).
std::unique_ptr<far_transport> connect_by_tcp_messages(group& all, const layout& memory,
                                                       const hosts& chosen);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
