// SPDX-License-Identifier: MIT
// The sockets of both sides.
#include "nopal/process/transport/tcp_places.h"

#include "nopal/base/atomic.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr int patience_ms = 10'000; // for one address

[[noreturn]] void die_of(const char* reason) {
  base::die("the processes cannot reach each other by TCP: %s: %s", reason, std::strerror(errno));
}

sockaddr_in socket_address(tcp_address of) noexcept {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = of.port;
  made.sin_addr.s_addr = of.host;
  return made;
}

int tcp_socket() noexcept { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

bool is_ready(int descriptor, short for_what, int for_ms) noexcept {
  pollfd wanted{descriptor, for_what, 0};
  int got = 0;
  while ((got = poll(&wanted, 1, for_ms)) < 0 && errno == EINTR)
    ;
  return got == 1;
}

// The connection, or -1.
int connect_to(tcp_address there) noexcept {
  const int to = tcp_socket();
  const sockaddr_in target = socket_address(there);
  int error = 0;
  socklen_t size = sizeof error;
  if (connect(to, reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0 ||
      (errno == EINPROGRESS && is_ready(to, POLLOUT, patience_ms) &&
       getsockopt(to, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)) {
    constexpr int on = 1;
    setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return to;
  }
  close(to);
  return -1;
}

bool receive_in_time(int from, void* to, std::size_t bytes) noexcept {
  return is_ready(from, POLLIN, patience_ms) &&
         recv(from, to, bytes, MSG_DONTWAIT | MSG_PEEK) == static_cast<ssize_t>(bytes) &&
         receive_all(from, to, bytes);
}

// Whether each side has proved to the other that it knows the secret. The other side confirms that
// it has understood: until then it may turn this process away like a stranger, if many come.
bool greet(const secret& key, introduction& said, tcp_way& way) noexcept {
  welcome got;
  if (!send_all(way.to, &said.first, sizeof said.first) ||
      !receive_in_time(way.to, &got, sizeof got))
    return false;
  said.answer = got.number;
  if (got.proof != proof_of_side(key, side::answering, said))
    return false;
  const std::uint64_t own = proof_of_side(key, side::asking, said);
  way.asks = {key, side::asking, said};
  way.answers = {key, side::answering, said};
  head confirmed;
  return send_all(way.to, &own, sizeof own) &&
         receive_in_time(way.to, &confirmed, sizeof confirmed) && way.answers.believes(confirmed);
}

} // namespace

std::string tcp_address::text() const {
  char digits[INET_ADDRSTRLEN] = {};
  const in_addr at{host};
  inet_ntop(AF_INET, &at, digits, sizeof digits);
  return std::string(digits) + ':' + std::to_string(ntohs(port));
}

bool tcp_place::has(std::uint32_t host) const noexcept {
  return std::ranges::count(addresses, host, &tcp_address::host) != 0;
}

listening listen_for_others(group& all, const hosts& chosen) {
  listening made{.place = {.machine = this_machine()}};
  std::vector<machine_name> machines(all.size());
  all.all_gather(&made.place.machine, machines.data(), sizeof(machine_name));
  const bool on_one = std::ranges::count(machines, made.place.machine) == all.size();
  const hosts own = on_one ? hosts{htonl(INADDR_LOOPBACK)} : chosen;
  for (std::size_t i = 0; i < std::min(own.size(), made.place.addresses.size()); ++i) {
    const int to = tcp_socket();
    sockaddr_in at = socket_address({own[i], 0});
    socklen_t size = sizeof at;
    if (to < 0 || bind(to, reinterpret_cast<const sockaddr*>(&at), size) != 0 ||
        listen(to, SOMAXCONN) != 0 || getsockname(to, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      die_of("no TCP port can be had");
    made.place.addresses[i] = {own[i], at.sin_port};
    made.sockets.push_back(to);
  }
  return made;
}

// Each address is tried for as long as others may keep the process busy with connections of theirs.
// An address that this machine has too leads to this machine itself, so it is tried only if the
// process is on it.
tcp_way connect_by_tcp(const secret& key, unsigned asking, unsigned answering,
                       const tcp_place& there, const tcp_place& here) {
  using clock = std::chrono::steady_clock;
  const auto until = clock::now() + std::chrono::milliseconds(patience_ms);
  for (unsigned tries = 64;; ++tries) {
    for (const tcp_address each : there.addresses) {
      if (each.host == 0 || (there.machine != here.machine && here.has(each.host)))
        continue;
      introduction said;
      said.first.asking = asking;
      said.first.answering = answering;
      said.first.number = unknown_number();
      tcp_way made;
      made.to = connect_to(each);
      if (made.to >= 0 && greet(key, said, made))
        return made;
      if (made.to >= 0)
        close(made.to);
    }
    if (clock::now() >= until)
      base::die("process %u cannot be reached by TCP at any address of its machine", answering);
    idle_for_a_while(tries);
  }
}

bool send_all(int to, const void* first, std::size_t first_bytes, const void* second,
              std::size_t second_bytes) noexcept {
  iovec left[2] = {{const_cast<void*>(first), first_bytes},
                   {const_cast<void*>(second), second_bytes}};
  while (left[0].iov_len + left[1].iov_len != 0) {
    msghdr message{};
    message.msg_iov = left;
    message.msg_iovlen = 2;
    const ssize_t sent = sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN)
      is_ready(to, POLLOUT, -1);
    else if (sent < 0 && errno != EINTR)
      return false;
    std::size_t gone = sent < 0 ? 0 : static_cast<std::size_t>(sent);
    for (iovec& each : left) {
      const std::size_t of_this = std::min(gone, each.iov_len);
      each.iov_base = static_cast<char*>(each.iov_base) + of_this;
      each.iov_len -= of_this;
      gone -= of_this;
    }
  }
  return true;
}

// An answer often comes within microseconds, so the thread looks a while before it sleeps.
bool receive_all(int from, void* to, std::size_t bytes) noexcept {
  constexpr unsigned looks = 512;
  auto* at = static_cast<char*>(to);
  for (unsigned tries = 1; bytes != 0;) {
    const ssize_t got = recv(from, at, bytes, MSG_DONTWAIT);
    if (got == 0) {
      errno = 0;
      return false;
    }
    if (got > 0) {
      at += got;
      bytes -= static_cast<std::size_t>(got);
    } else if (errno == EAGAIN && tries < looks) {
      base::wait_briefly(tries++);
    } else if (errno == EAGAIN) {
      is_ready(from, POLLIN, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

} // namespace nopal::inline NOPAL_ABI::process
