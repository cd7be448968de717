// SPDX-License-Identifier: MIT
// In the place of ucx.cc, for a library that is built where UCX is not installed. The launch asks
// has_ucx first.
#include "nopal/config.h"
#include "nopal/process/transport/ucx.h"

namespace nopal::inline NOPAL_ABI::process {

bool has_ucx() noexcept { return false; }

std::unique_ptr<far_transport> connect_by_ucx(group&, const layout&, const near_blocks&,
                                              const hosts&) {
  return nullptr;
}

} // namespace nopal::inline NOPAL_ABI::process
