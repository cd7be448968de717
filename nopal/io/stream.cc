// SPDX-License-Identifier: MIT
// Reading and writing bytes: each call takes what there is, or waits.
#include "nopal/io/stream.h"

#include "nopal/io/attempts.h"
#include "nopal/io/blocking_file.h"

#include <unistd.h>

namespace nopal::inline NOPAL_ABI::io {

std::size_t read_some(descriptor& from, std::span<char> into, clock::time_point until) {
  use held{from};
  return static_cast<std::size_t>(held.retry(direction::in, until, [&](std::uint32_t seen) {
    if (held.own.keeps_blocking.load(base::relaxed))
      return read_blocking_file(held.fd, into.data(), into.size());
    const ssize_t got = read(held.fd, into.data(), into.size());
    held.note_read(seen, got > 0 && static_cast<std::size_t>(got) < into.size());
    return got;
  }));
}

void write_all(descriptor& to, std::string_view what, clock::time_point until, std::size_t* sent) {
  std::size_t done = 0;
  if (sent != nullptr)
    *sent = 0;
  use held{to};
  bool is_socket = true;
  while (done < what.size()) {
    const std::string_view rest = what.substr(done);
    done += static_cast<std::size_t>(held.retry(direction::out, until, [&](std::uint32_t) {
      if (held.own.keeps_blocking.load(base::relaxed))
        return write_blocking_file(held.fd, rest.data(), rest.size());
      const ssize_t some = is_socket ? send(held.fd, rest.data(), rest.size(), MSG_NOSIGNAL) : -1;
      if (is_socket && (some >= 0 || *base::this_threads_error() != ENOTSOCK))
        return some;
      is_socket = false;
      return write(held.fd, rest.data(), rest.size());
    }));
    if (sent != nullptr)
      *sent = done;
  }
}

} // namespace nopal::inline NOPAL_ABI::io
