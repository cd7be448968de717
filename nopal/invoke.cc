// SPDX-License-Identifier: MIT
// Which exception invoke throws.
#include "nopal/invoke.h"

#include "nopal/join/failure.h"

#include <algorithm>

namespace nopal::inline NOPAL_ABI::detail {

void rethrow_first(const std::exception_ptr* thrown, std::size_t count, bool complete) {
  if (complete)
    return;
  const auto* const end = thrown + count;
  const auto* const first = std::find_if(thrown, end, [](const auto& what) { return bool(what); });
  if (first == end)
    throw not_started{};
  join::begin_suppressed_count(static_cast<std::uint64_t>(
      std::count_if(first + 1, end, [](const auto& what) { return bool(what); })));
  std::rethrow_exception(*first);
}

} // namespace nopal::inline NOPAL_ABI::detail
