// SPDX-License-Identifier: MIT
// A steal by message. Where each operation on a victim's memory is a message that a thread of the
// victim's process answers, that thread does the whole steal for the thief, and answers once.
//
// The thread is a thief like others (queue.h), by its processor's own instructions: it takes the
// oldest entry, copies the frames into the message, and acknowledges. The message is lost only if
// the thief's process dies, and that ends the computation anyway.
//
// Orders: T, F, C and K of queue.h. Its model has such a thief too (head and tail apart).
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/segment.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// For the victim: takes the oldest entry of this process's queue. Returns the message: the entry,
// then its frames; empty if nothing was open. `region` is where the region begins. Any thread may
// call it, but not amid an operation on the queue.
std::vector<std::uint64_t> serve_steal(std::uintptr_t region);

// For the thief, a process without a task, whose region is free: puts the frames of such a message,
// which the victim has sent, at their addresses. Ends the program with a sentence if the frames are
// not as many as came with them, or do not lie in the region.
std::optional<segment> place_stolen(unsigned victim, const layout& memory, const void* message,
                                    std::size_t bytes) noexcept;
// The longest such message.
constexpr std::size_t most_stolen(const layout& memory) noexcept {
  return sizeof(std::uint64_t) + memory.regions * memory.region_size;
}

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
