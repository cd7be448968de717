// SPDX-License-Identifier: MIT
// What sockets have beside other descriptors.
#include "nopal/io/sockets.h"

#include "nopal/fibers/waits.h"
#include "nopal/io/attempts.h"
#include "nopal/io/blocking_file.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace nopal::inline NOPAL_ABI::io {
// A socket that the system has just opened; it is closed if it cannot be taken over.
struct opened {
  static descriptor take_over(int fd, const sockaddr* peer) {
    const bool tcp = peer->sa_family == AF_INET || peer->sa_family == AF_INET6;
    descriptor made;
    try {
      made.adopt(fd, tcp ? descriptor::kind::tcp : descriptor::kind::other);
    } catch (...) {
      close(fd);
      throw;
    }
    return made;
  }
};

namespace {
constexpr char what[] = "nopal::io, sockets";

descriptor open_socket(const address& at) {
  const int fd = socket(at.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0)
    fail(errno, what);
  return opened::take_over(fd, at.get());
}

// What a connection brings that went wrong before it was accepted (accept(2)).
bool is_connections_own(int error) noexcept {
  constexpr std::array all{ECONNABORTED, EPROTO,       ENETDOWN,    ENOPROTOOPT, EHOSTDOWN,
                           ENONET,       EHOSTUNREACH, ENETUNREACH, EOPNOTSUPP};
  return std::ranges::find(all, error) != all.end();
}

// Where the queue of a listening UNIX socket is full, no event says when that changes.
constexpr std::chrono::microseconds kFirstPause{200};
constexpr std::chrono::microseconds kLongestPause{20'000};

// The error, 0: connected.
int try_to_connect(const descriptor& made, const address& to, clock::time_point until) {
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    if (::connect(made.get(), to.get(), to.size()) == 0)
      return 0;
    const int error = *base::this_threads_error();
    if (error != EAGAIN || to.get()->sa_family != AF_UNIX)
      return error;
    const clock::time_point now = clock::now();
    if (now >= until)
      return ETIMEDOUT;
    fibers::sleep_until(std::min(until, now + pause));
  }
}
} // namespace

address::address(const sockaddr* at, socklen_t size) : size_{size} {
  if (size > sizeof at_)
    fail(EINVAL, what);
  std::memcpy(&at_, at, size);
}

address address::loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return {reinterpret_cast<const sockaddr*>(&at), sizeof at};
}

address address::local(const descriptor& socket) {
  address found;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&found.at_), &found.size_) != 0)
    fail(errno, what);
  return found;
}

// Both families have the port at the same place.
std::uint16_t address::port() const noexcept {
  sockaddr_in at{};
  std::memcpy(&at, &at_, sizeof at);
  return at_.ss_family == AF_INET || at_.ss_family == AF_INET6 ? ntohs(at.sin_port)
                                                               : std::uint16_t{0};
}

descriptor listen(const address& at) {
  descriptor made = open_socket(at);
  const int on = 1;
  if (setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(made.get(), at.get(), at.size()) != 0 || ::listen(made.get(), SOMAXCONN) != 0)
    fail(errno, what);
  return made;
}

descriptor accept(descriptor& listening, clock::time_point until) {
  sockaddr peer{};
  use held{listening};
  const int fd = held.retry(direction::in, until, [&](std::uint32_t) {
    socklen_t size = sizeof peer; // the family will do
    const int got = held.own.keeps_blocking.load(base::relaxed)
                        ? accept_blocking(held.fd, &peer, &size)
                        : accept4(held.fd, &peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (got < 0 && is_connections_own(*base::this_threads_error()))
      base::set_error(EINTR); // the next one
    return got;
  });
  return opened::take_over(fd, &peer);
}

// While the connection is under way the socket has no peer, and no error.
descriptor connect(const address& to, clock::time_point until) {
  descriptor made = open_socket(to);
  const int begun = try_to_connect(made, to, until);
  if (begun == 0)
    return made;
  if (begun != EINPROGRESS && begun != EINTR)
    fail(begun, what);
  use held{made};
  held.retry(direction::out, until, [fd = held.fd](std::uint32_t) {
    int error = 0;
    socklen_t size = sizeof error;
    sockaddr_storage peer;
    socklen_t peer_size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
      return -1;
    if (error == 0 && getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0)
      return 0;
    base::set_error(error == 0 || error == ENOTCONN ? EAGAIN : error);
    return -1;
  });
  return made;
}

} // namespace nopal::inline NOPAL_ABI::io
