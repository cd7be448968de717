// SPDX-License-Identifier: MIT
// Calls on files without O_NONBLOCK.
#include "nopal/io/blocking_file.h"

#include "nopal/base/os.h"
#include "nopal/fibers/waits.h"
#include "nopal/vproc/spares.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace nopal::inline NOPAL_ABI::io {
namespace {

// A pipe or terminal that can be written to takes so many bytes, if nobody else is faster.
constexpr std::size_t kPipe = PIPE_BUF;
constexpr std::size_t kTerminal = 256;

bool is_pipe(int descriptor) noexcept {
  struct stat seen{};
  return fstat(descriptor, &seen) == 0 && S_ISFIFO(seen.st_mode);
}
// The other end, which a terminal's emulator has, belongs to it alone.
bool is_terminal(int descriptor) noexcept {
  unsigned number = 0;
  return isatty(descriptor) != 0 && ioctl(descriptor, TIOCGPTN, &number) != 0;
}

template <class Call> auto when_ready(int descriptor, short events, Call call) {
  pollfd asked{descriptor, events, 0};
  if (poll(&asked, 1, 0) == 0) {
    base::set_error(EAGAIN);
    return decltype(call()){-1};
  }
  int error = 0;
  decltype(call()) done = -1;
  {
    const fibers::blocking_place place;
    const vproc::lending lent;
    done = call();
    error = *base::this_threads_error();
  }
  base::set_error(error);
  return done;
}

// Whether a call that does not block by itself has said what is to be said.
bool answered(ssize_t done, int cannot) noexcept {
  const int error = *base::this_threads_error();
  return done >= 0 || (error != cannot && error != ENOSYS && error != EINVAL);
}

} // namespace

bool is_shared(int descriptor, int flags) noexcept {
  struct stat seen{}, standard{};
  if ((flags & O_NONBLOCK) != 0 || fstat(descriptor, &seen) != 0)
    return false;
  if (!S_ISFIFO(seen.st_mode) && !S_ISSOCK(seen.st_mode) && !S_ISCHR(seen.st_mode))
    return false;
  if (S_ISCHR(seen.st_mode) && is_terminal(descriptor))
    return true;
  return std::ranges::any_of(std::initializer_list<int>{0, 1, 2}, [&](int each) {
    return fstat(each, &standard) == 0 && standard.st_dev == seen.st_dev &&
           standard.st_ino == seen.st_ino;
  });
}

ssize_t read_blocking_file(int from, void* into, std::size_t size) {
  ssize_t got = recv(from, into, size, MSG_DONTWAIT);
  if (answered(got, ENOTSOCK))
    return got;
  const iovec all{into, size};
  if (is_pipe(from) && answered(got = preadv2(from, &all, 1, -1, RWF_NOWAIT), EOPNOTSUPP))
    return got;
  return when_ready(from, POLLIN, [&] { return read(from, into, size); });
}

ssize_t write_blocking_file(int to, const void* what, std::size_t size) {
  ssize_t sent = send(to, what, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (answered(sent, ENOTSOCK))
    return sent;
  const iovec all{const_cast<void*>(what), size};
  const bool pipe = is_pipe(to);
  if (pipe && answered(sent = pwritev2(to, &all, 1, -1, RWF_NOWAIT), EOPNOTSUPP))
    return sent;
  const std::size_t some = std::min(size, pipe ? kPipe : kTerminal);
  return when_ready(to, POLLOUT, [&] { return write(to, what, some); });
}

int accept_blocking(int from, sockaddr* peer, socklen_t* size) {
  return when_ready(from, POLLIN,
                    [&] { return accept4(from, peer, size, SOCK_NONBLOCK | SOCK_CLOEXEC); });
}

} // namespace nopal::inline NOPAL_ABI::io
