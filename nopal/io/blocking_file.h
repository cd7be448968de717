// SPDX-License-Identifier: MIT
// Calls on a file that must not get O_NONBLOCK, since others share it: a terminal, or what the
// program was started with. Each returns -1 and EAGAIN where it would block.
//
// Sockets and pipes have calls that do not block by themselves. For other files poll(2) says that
// they are ready. If somebody else is faster, then the call blocks; so another thread runs strands
// meanwhile (nopal::blocking), and neither a time nor a cancel nor a close ends the call.
#pragma once

#include "nopal/config.h"

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

// Whether others may share the file of this descriptor, so that O_NONBLOCK would surprise them: a
// terminal, or the same as one of the standard descriptors. Not if it does not block already.
bool is_shared(int descriptor, int flags) noexcept;

ssize_t read_blocking_file(int from, void* into, std::size_t size);
ssize_t write_blocking_file(int to, const void* what, std::size_t size);
int accept_blocking(int from, sockaddr* peer, socklen_t* size);

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
