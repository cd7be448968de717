// SPDX-License-Identifier: MIT
// The descriptors that strands wait for, and the system's events, which make those strands ready.
//
// All descriptors are in one epoll, each as soon as a strand first waits for it, for all events and
// edge-triggered: an event says that something has changed. It counts (event_count.h), so a
// strand that has tried in vain waits for what has changed since before it tried. A thread without
// work takes the events (sync/watch.h).
//
// The number of a descriptor is used again after it was closed. An event that was under way for the
// old one is one too many for the new one, and its strands try again.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/io/event_count.h"
#include "nopal/vproc/fiber.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

// Throws std::system_error.
[[noreturn]] void fail(int error, const char* what);

enum class direction : unsigned char { in, out };

// What belongs to a descriptor's number. It lives as long as the process.
struct alignas(64) entry {
  event_count<vproc::fiber> in;
  event_count<vproc::fiber> out;
  // An event said that more follows than data: the end, an error, urgent data. Set before `in`
  // counts that event.
  base::atomic<bool> more_than_data{false};

  event_count<vproc::fiber>& side(direction where) noexcept {
    return where == direction::in ? in : out;
  }
};

// Throws std::system_error where the number is none of a descriptor, or memory is refused.
entry& entry_of(int descriptor);

// From now on events of this descriptor are taken. If it is ready, there is one at once, also if
// they were taken before. False: it is always ready, as a regular file is. Throws
// std::system_error.
bool take_events_of(int descriptor);
// Before the descriptor is closed.
void forget(int descriptor) noexcept;

// Wakes all that wait for it, as an event does.
void wake_all(int descriptor) noexcept;

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
