// SPDX-License-Identifier: MIT
// When an observer is due.
#include "nopal/cancel/observers.h"

#include <algorithm>
#include <utility>

namespace nopal::inline NOPAL_ABI::cancel {

observer::observer(join::ancestor* innermost, std::vector<const join::cancelable*> nodes)
    : join::descendant{kind::observer}, nodes_{std::move(nodes)} {
  place(innermost);
  // After it was placed: a canceller marks its node before it looks below, so the mark is seen here
  // or the observer there. Nobody has the token yet, so no callback runs.
  if (std::optional<std::stop_source> now = due())
    now->request_stop();
}

std::optional<std::stop_source> observer::due() const {
  const auto is_cancelled = [](const join::cancelable* node) { return node->cancelled(); };
  if (source_.stop_requested() || !std::ranges::any_of(nodes_, is_cancelled))
    return {};
  return source_;
}

} // namespace nopal::inline NOPAL_ABI::cancel
