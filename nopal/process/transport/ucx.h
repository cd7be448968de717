// SPDX-License-Identifier: MIT
// The engine between machines where UCX is installed (ucx.cc; without_ucx.cc stands in its place
// where it is not).
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/shared_memory.h"

#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Whether the library was built with UCX.
bool has_ucx() noexcept;

// Collective. The block is mapped. Processes that share memory with this one are not connected.
std::unique_ptr<far_transport> connect_by_ucx(group& all, const layout& memory,
                                              const near_blocks& near);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
