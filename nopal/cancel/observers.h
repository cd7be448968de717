// SPDX-License-Identifier: MIT
// Stop tokens that observe regions and other nodes: their callbacks run when one of these is
// cancelled (nopal/cancel.h). An observer is placed below the innermost of them (join/descent.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"

#include <algorithm>
#include <optional>
#include <stop_token>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// A stop is requested of its source when one of its nodes is cancelled.
class observer : public join::descendant {
public:
  // `innermost` is placed.
  observer(join::ancestor* innermost, std::vector<const join::cancelable*> nodes);
  ~observer() { remove(); }

  std::stop_token token() const noexcept { return source_.get_token(); }
  // Null: none of its nodes is cancelled, or a stop was requested before.
  std::optional<std::stop_source> due() const {
    const auto is_cancelled = [](const join::cancelable* node) { return node->cancelled(); };
    if (source_.stop_requested() || !std::ranges::any_of(nodes_, is_cancelled))
      return {};
    return source_;
  }

private:
  const std::vector<const join::cancelable*> nodes_;
  std::stop_source source_;
};

// The regions and other nodes that would stop the calling strand if they were cancelled, the
// innermost first.
std::vector<const join::cancelable*> enclosing_nodes();

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
