// SPDX-License-Identifier: MIT
//
// The heavy half of the asymmetric fence: whether this kernel has it.
#pragma once

namespace nopal::base {

// Registers the process for membarrier(2)'s private expedited command. False: the kernel has none,
// and `heavy_barrier` must not be relied upon (the runtime then makes owners synchronise on every
// pop). Thread rules: any thread; idempotent.
bool enable_heavy_barrier() noexcept;

} // namespace nopal::base
