// SPDX-License-Identifier: MIT
// Reading and writing bytes.
#pragma once

#include "nopal/config.h"
#include "nopal/io/descriptor.h"
#include "nopal/io/waits.h"

#include <cstddef>
#include <span>
#include <string_view>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

/// Reads what is there, at least a byte; waits until then. 0: the other end is closed.
std::size_t read_some(descriptor& from, std::span<char> into, clock::time_point until = never);
/// Writes all of it; waits as often as the other end is slow. Where that end is closed it throws
/// std::system_error (EPIPE); a socket sends no SIGPIPE, a pipe does.
/// However it ends (its time has come, it fails, the strand is cancelled), `*sent` is how many
/// bytes the system has taken, from the first one on.
void write_all(descriptor& to, std::string_view what, clock::time_point until = never,
               std::size_t* sent = nullptr);

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
