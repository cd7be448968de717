// SPDX-License-Identifier: MIT
// Opening, closing, reading and writing.
#include "nopal/io/descriptor.h"

#include "nopal/io/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace nopal::inline NOPAL_ABI::io {

descriptor::descriptor(int fd) : fd_{fd} {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
    fail(errno, "nopal::io was given no descriptor");
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

} // namespace nopal::inline NOPAL_ABI::io
