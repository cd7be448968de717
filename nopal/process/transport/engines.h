// SPDX-License-Identifier: MIT
// The engines that carry data between processes that a launcher of MPI has begun.
#pragma once

#include "nopal/config.h"
#include "nopal/process/launch/launch.h"

#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Whether the library was built with UCX (ucx.cc or without_ucx.cc).
bool has_ucx() noexcept;

// Collective, as launch::connect.
std::unique_ptr<transport> connect_by_ucx(launch& with, const layout& as);
// `all_apart`: as if each process were on a machine of its own.
std::unique_ptr<transport> connect_by_mpi(const layout& as, bool all_apart);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
