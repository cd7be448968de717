// SPDX-License-Identifier: MIT
// The engine between machines where UCX is installed (ucx.cc; without_ucx.cc stands in its place
// where it is not).
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/shared_memory.h"
#include "nopal/process/transport/tcp_places.h"

#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Whether the library was built with UCX.
bool has_ucx() noexcept;

// Collective. The block is mapped. Processes that share memory with this one are not connected.
// Where the network's adapters do not access memory by themselves, it is the engine over TCP, which
// listens at the addresses that were chosen (tcp_messages.h).
std::unique_ptr<far_transport> connect_by_ucx(group& all, const layout& memory,
                                              const near_blocks& near, const hosts& chosen);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
