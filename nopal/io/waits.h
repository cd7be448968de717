// SPDX-License-Identifier: MIT
// How a strand waits for a descriptor.
#pragma once

#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

/// Waits until a read of the descriptor (an accept, the end of a connect) would not block, or would
/// fail. It may return too early, as poll(2) may. A regular file is always ready. Whoever waits for
/// the same descriptor is woken, too; so there it is better not to block (O_NONBLOCK).
///
/// A descriptor that is closed by close(2) meanwhile wakes nobody; see descriptor::close.
/// @throws std::system_error if it is no descriptor; `cancelled`.
/// @par Threads
/// Any thread, any strand; a thread that runs no strands blocks.
/// @par Cost
/// Three system calls if it has to wait, else one.
void wait_readable(int fd);
/// The same for a write.
void wait_writable(int fd);

struct entry;
enum class direction : unsigned char;

// Waits until more events have come than `seen`. Throws `cancelled`. Precondition: a strand calls,
// and the descriptor's events are taken.
void wait(entry& of, direction where, std::uint32_t seen);
// A thread that runs no strands blocks instead.
void block(int descriptor, direction where);

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
