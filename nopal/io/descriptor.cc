// SPDX-License-Identifier: MIT
// Opening, closing, reading and writing.
#include "nopal/io/descriptor.h"

#include "nopal/io/attempts.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace nopal::inline NOPAL_ABI::io {

descriptor::descriptor(int fd) : fd_{fd} {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
    attempts::fail(errno);
}

descriptor::descriptor(descriptor&& other) noexcept { *this = std::move(other); }

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  if (this == &other)
    return *this;
  close();
  is_tcp_ = other.is_tcp_;
  watched_.store(other.watched_.load(base::relaxed), base::relaxed);
  emptied_.store(other.emptied_.load(base::relaxed), base::relaxed);
  fd_.store(other.release(), base::relaxed);
  return *this;
}

int descriptor::release() noexcept {
  watched_.store(false, base::relaxed);
  emptied_.store(0, base::relaxed);
  return fd_.exchange(-1, base::relaxed);
}

// A strand may be about to wait: it compares what it has counted before.
void descriptor::close() noexcept {
  const bool watched = watched_.load(base::relaxed);
  const int fd = release();
  if (fd < 0)
    return;
  if (watched)
    forget(fd);
  ::close(fd);
  wake_all(fd);
}

std::size_t read_some(descriptor& from, std::span<char> into) {
  return static_cast<std::size_t>(
      attempts::retry(from, direction::in, [&](int fd, const entry& of, std::uint32_t seen) {
        const ssize_t got = read(fd, into.data(), into.size());
        attempts::note_read(from, of, seen, got > 0 && static_cast<std::size_t>(got) < into.size());
        return got;
      }));
}

void write_all(descriptor& to, std::string_view what) {
  bool is_socket = true;
  while (!what.empty())
    what.remove_prefix(static_cast<std::size_t>(
        attempts::retry(to, direction::out, [&](int fd, const entry&, std::uint32_t) {
          const ssize_t sent = is_socket ? send(fd, what.data(), what.size(), MSG_NOSIGNAL) : -1;
          if (is_socket && (sent >= 0 || *base::this_threads_error() != ENOTSOCK))
            return sent;
          is_socket = false;
          return write(fd, what.data(), what.size());
        })));
}

} // namespace nopal::inline NOPAL_ABI::io
