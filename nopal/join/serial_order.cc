// SPDX-License-Identifier: MIT
#include "nopal/join/serial_order.h"

namespace nopal::inline NOPAL_ABI::join {

void sequence::note_failure(std::uint32_t function) noexcept {
  std::uint32_t first = first_.load(base::relaxed);
  while (function < first) {
    if (!first_.compare_exchange_weak(first, function, base::relaxed, base::relaxed))
      continue;
    if (first == none)
      root_->failing_.fetch_add(1, base::relaxed);
    return;
  }
}

bool sequence::is_overtaken(std::uint32_t function) const noexcept {
  for (const sequence* at = this;;) {
    if (at->first_.load(base::relaxed) < function)
      return true;
    const position* const within = at->within_;
    if (within == nullptr)
      return false;
    function = within->function;
    at = within->of;
  }
}

} // namespace nopal::inline NOPAL_ABI::join
