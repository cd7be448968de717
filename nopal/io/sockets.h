// SPDX-License-Identifier: MIT
// Sockets: addresses, listening, accepting and connecting.
#pragma once

#include "nopal/config.h"
#include "nopal/io/descriptor.h"
#include "nopal/io/waits.h"

#include <sys/socket.h>

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

/// The address of a socket.
class NOPAL_TYPE address {
public:
  /// What the system calls so (AF_INET, AF_INET6, AF_UNIX, ...).
  address(const sockaddr* at, socklen_t size);
  /// This machine, by IPv4. Port 0 stands for a free one, which `listen` finds.
  static address loopback(std::uint16_t port);
  /// The address of this end.
  static address local(const descriptor& socket);
  [[deprecated("call local")]] static address of(const descriptor& end) { return local(end); }

  /// The port of an IPv4 or IPv6 address; 0 for any other.
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&at_);
  }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }

private:
  address() = default;
  sockaddr_storage at_{};
  socklen_t size_ = sizeof at_;
};

/// A stream socket that listens, with SO_REUSEADDR.
descriptor listen(const address& at);
/// The next connection. Passes over those that are gone already. Where the process or the system
/// has no descriptor left it throws std::system_error (EMFILE, ENFILE); the connection waits for
/// the next accept.
descriptor accept(descriptor& listening, clock::time_point until = never);
/// A stream socket that is connected to this address. Where the queue of a listening UNIX socket is
/// full, it tries again, at growing times of at most 20 ms.
descriptor connect(const address& to, clock::time_point until = never);

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
