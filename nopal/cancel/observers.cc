// SPDX-License-Identifier: MIT
// When an observer is due, and the order in which a node is cancelled.
#include "nopal/cancel/observers.h"

#include "nopal/sched/ancestry.h"
#include "nopal/sched/stop.h"

#include <algorithm>
#include <utility>

namespace nopal::inline NOPAL_ABI::cancel {

std::optional<std::stop_source> observer::due() const {
  const auto is_cancelled = [](const join::cancelable* node) { return node->cancelled(); };
  if (source_.stop_requested() || !std::ranges::any_of(nodes_, is_cancelled))
    return {};
  return source_;
}

std::vector<std::stop_source> mark_and_tell(join::cancelable& node,
                                            std::exception_ptr reason) noexcept {
  std::vector<std::stop_source> due;
  if (!node.mark(std::move(reason))) // first, so that a strand that is told finds the mark
    return due; // only one of several cancellers goes on, so the announcement counts once
  sched::announce_stop(
      node.below, node.forked_at.load(base::relaxed),
      [](join::descendant* seen, void* list) {
        if (auto source = static_cast<observer*>(seen)->due())
          static_cast<std::vector<std::stop_source>*>(list)->push_back(*std::move(source));
      },
      &due);
  return due;
}

std::vector<const join::cancelable*> enclosing_nodes() {
  return sched::nodes_above(sched::this_strand());
}

} // namespace nopal::inline NOPAL_ABI::cancel
