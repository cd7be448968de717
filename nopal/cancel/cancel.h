// SPDX-License-Identifier: MIT
// Cancels a region or another node, and shields strands from that (nopal/cancel.h). How strands are
// told to stop: sched/stop.h.
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"
#include "nopal/join/join.h"

#include <exception>
#include <memory>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// Tells the strands of that node to stop, and does not wait for them. Any thread.
void cancel(join::cancelable& node, std::exception_ptr reason = nullptr) noexcept;

// Cancels the node but for the tokens: the caller makes the requests that it returns.
class stop_request; // observers.h
using stop_requests = std::vector<std::shared_ptr<stop_request>>;
stop_requests mark_and_tell(join::cancelable& node, std::exception_ptr reason) noexcept;

// The reason of the innermost node that stops the calling strand and has a reason; or null.
std::exception_ptr reason() noexcept;

// The node of a region that the calling strand is about to fork in, as the walk down finds it.
join::ancestor* placed_region(const join::region_frame* frame) noexcept;
// The calling strand's node, for any thread (stack/view.h).
join::cancelable* seen(join::cancelable* node) noexcept;

// Called around the life of a scope that shields its children.
void begin_shield() noexcept;
void end_shield() noexcept;

// As vproc::begin_alternatives (timer.h); starts the pool if it does not run.
void begin_alternatives() noexcept;

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
