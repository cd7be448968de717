// SPDX-License-Identifier: MIT
// Reading and writing bytes: each call takes what there is, or waits.
#include "nopal/io/stream.h"

#include "nopal/io/attempts.h"

#include <unistd.h>

namespace nopal::inline NOPAL_ABI::io {

std::size_t read_some(descriptor& from, std::span<char> into, clock::time_point until) {
  return static_cast<std::size_t>(attempts::retry(
      from, direction::in, until, [&](int fd, const entry& own, std::uint32_t seen) {
        const ssize_t got = read(fd, into.data(), into.size());
        attempts::note_read(from, own, seen,
                            got > 0 && static_cast<std::size_t>(got) < into.size());
        return got;
      }));
}

void write_all(descriptor& to, std::string_view what, clock::time_point until) {
  bool is_socket = true;
  while (!what.empty())
    what.remove_prefix(static_cast<std::size_t>(
        attempts::retry(to, direction::out, until, [&](int fd, const entry&, std::uint32_t) {
          const ssize_t sent = is_socket ? send(fd, what.data(), what.size(), MSG_NOSIGNAL) : -1;
          if (is_socket && (sent >= 0 || *base::this_threads_error() != ENOTSOCK))
            return sent;
          is_socket = false;
          return write(fd, what.data(), what.size());
        })));
}

} // namespace nopal::inline NOPAL_ABI::io
