// SPDX-License-Identifier: MIT
// What sockets have beside other descriptors.
#include "nopal/io/sockets.h"

#include "nopal/io/attempts.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

namespace nopal::inline NOPAL_ABI::io {
namespace {
constexpr char what[] = "nopal::io, sockets";

descriptor open_socket(const address& at) {
  const int fd = socket(at.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0)
    fail(errno, what);
  return attempts::open(fd, at.get());
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
  const int fd =
      attempts::retry(listening, direction::in, until, [&](int from, const entry&, std::uint32_t) {
        socklen_t size = sizeof peer; // the family will do
        return accept4(from, &peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
      });
  return attempts::open(fd, &peer);
}

// While the connection is under way the socket has no peer, and no error.
descriptor connect(const address& to, clock::time_point until) {
  descriptor made = open_socket(to);
  if (::connect(made.get(), to.get(), to.size()) == 0)
    return made;
  if (errno != EINPROGRESS && errno != EINTR)
    fail(errno, what);
  attempts::retry(made, direction::out, until, [](int fd, const entry&, std::uint32_t) {
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
