// SPDX-License-Identifier: MIT
// How many guards keep the strands of a fiber, or of a group outside nopal::run, from being
// preempted (nopal/preemption.h). A number only: relaxed.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

class mask_count {
public:
  void mask() noexcept { guards_.fetch_add(1, base::relaxed); }
  void unmask() noexcept { guards_.fetch_sub(1, base::relaxed); }
  bool masked() const noexcept { return guards_.load(base::relaxed) != 0; }

private:
  base::atomic<std::uint32_t> guards_{0};
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
