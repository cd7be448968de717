// SPDX-License-Identifier: MIT
// How a strand waits for a descriptor.
#pragma once

#include "nopal/config.h"

#include <chrono>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

using clock = std::chrono::steady_clock;
inline constexpr clock::time_point never = clock::time_point::max();

/// Waits until a read of the descriptor (an accept, the end of a connect) would not block, or would
/// fail. It may return too early, as poll(2) may. A regular file is always ready. All strands that
/// wait for the same descriptor are woken; so where there are several, it is better not to block
/// (O_NONBLOCK). Where the time comes first it returns false.
///
/// A descriptor that is closed by close(2) meanwhile wakes nobody; see descriptor::close.
/// @throws std::system_error if it is no descriptor, or descriptor::close closes it; `cancelled`.
/// @par Threads
/// Any thread, any strand; a thread that runs no strands blocks.
/// @par Cost
/// Three system calls if it has to wait, else one.
bool wait_readable(int fd, clock::time_point until = never);
/// The same for a write.
bool wait_writable(int fd, clock::time_point until = never);

struct entry;
enum class direction : unsigned char;

// Waits until more events have come than `seen`; false: the time came first. Throws `cancelled`.
// Precondition: a strand calls, and the descriptor's events are taken.
bool wait(entry& own, direction where, std::uint32_t seen, clock::time_point until);

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
