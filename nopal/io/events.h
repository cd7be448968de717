// SPDX-License-Identifier: MIT
// The system's events, which make ready the strands that wait for descriptors.
//
// All descriptors are in one epoll, each as soon as a strand first waits for it, for all events and
// edge-triggered: an event says that something has changed. It counts (event_count.h), so a
// strand that has tried in vain waits for what has changed since before it tried. A thread without
// work takes the events (sync/watch.h).
//
// A number is used again after its descriptor was closed. Then the strands that waited for the old
// one have left (uses.h). An event that was under way for the old one is one too many for the new
// one, and its strands try again.
#pragma once

#include "nopal/config.h"
#include "nopal/io/table.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

// From now on events of this descriptor are taken. If it is ready, there is one at once, also if
// they were taken before. False: it is always ready, as a regular file is. Throws
// std::system_error.
bool take_events_of(int descriptor, entry& own);
// Before the number is closed, or belongs to somebody else.
void take_no_more_events_of(int descriptor, entry& own) noexcept;

// Wakes all that wait for it, as an event does.
void wake_all(entry& own) noexcept;
// Nobody uses the number any more (uses.h): closes it.
void give_back(int descriptor, entry& own) noexcept;

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
