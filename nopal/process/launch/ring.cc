// SPDX-License-Identifier: MIT
// How neighbours find each other, and what they say.
#include "nopal/process/launch/ring.h"

#include "nopal/base/die.h"
#include "nopal/process/transport/shared_memory.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ifaddrs.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// What a process tells a neighbour, besides the number of a process that has died.
constexpr std::uint32_t ended = 0xffffffff;
constexpr std::uint32_t has_come = 0xfffffffe;
constexpr std::uint32_t has_met = 0xfffffffd;
constexpr int patience_ms = 10'000; // for one address, or one stranger

// Where a process can be reached.
struct place {
  std::uint64_t secret = 0; // by which it knows its neighbour from a stranger
  machine_name machine;
  std::uint16_t port = 0;                    // as the network has it, like the addresses
  std::array<std::uint32_t, 15> addresses{}; // 0: none

  bool has(std::uint32_t address) const noexcept {
    return std::ranges::count(addresses, address) != 0;
  }
};

[[noreturn]] void die_of(const char* reason) {
  base::die("the processes cannot watch each other: %s: %s", reason, std::strerror(errno));
}

void note_addresses(place& own) {
  auto unused = own.addresses.begin();
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0)
    die_of("the addresses of this machine cannot be read");
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET)
      continue;
    sockaddr_in found;
    std::memcpy(&found, each->ifa_addr, sizeof found);
    if (ntohl(found.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET && unused != own.addresses.end())
      *unused++ = found.sin_addr.s_addr;
  }
  freeifaddrs(all);
}

int listen_somewhere(place& self) {
  const int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  socklen_t size = sizeof own;
  if (to < 0 || bind(to, reinterpret_cast<const sockaddr*>(&own), size) != 0 ||
      listen(to, 16) != 0 || getsockname(to, reinterpret_cast<sockaddr*>(&own), &size) != 0)
    die_of("no TCP port can be had");
  self.port = own.sin_port;
  return to;
}

bool is_ready(int descriptor, short for_what, int for_ms = patience_ms) noexcept {
  pollfd wanted{descriptor, for_what, 0};
  int got = 0;
  while ((got = poll(&wanted, 1, for_ms)) < 0 && errno == EINTR)
    ;
  return got == 1;
}

// The connection, or -1.
int connect_to(std::uint32_t address, std::uint16_t port) noexcept {
  const int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in target{};
  target.sin_family = AF_INET;
  target.sin_port = port;
  target.sin_addr.s_addr = address;
  if (connect(to, reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0)
    return to;
  int error = 0;
  socklen_t size = sizeof error;
  if (errno == EINPROGRESS && is_ready(to, POLLOUT) &&
      getsockopt(to, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
    return to;
  close(to);
  return -1;
}

// Connects with a neighbour, and says its secret to it. An address that this machine has too leads
// to this machine itself, so it is tried only if the neighbour is on it.
int reach(const place& neighbour, const place& own, unsigned rank) {
  int to = -1;
  if (neighbour.machine == own.machine)
    to = connect_to(htonl(INADDR_LOOPBACK), neighbour.port);
  for (const std::uint32_t address : neighbour.addresses)
    if (to < 0 && address != 0 && (neighbour.machine == own.machine || !own.has(address)))
      to = connect_to(address, neighbour.port);
  if (to < 0 || send(to, &neighbour.secret, sizeof neighbour.secret, MSG_NOSIGNAL) !=
                    static_cast<ssize_t>(sizeof neighbour.secret))
    base::die("process %u cannot be reached by TCP at any address of its machine", rank);
  return to;
}

// Waits for the neighbour's connection, while the neighbour may try each address. Others that come
// are strangers, and are turned away.
int welcome(int listening, const place& own, unsigned rank) {
  const int patience = patience_ms * static_cast<int>(1 + own.addresses.size());
  while (is_ready(listening, POLLIN, patience)) {
    const int from = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (from < 0)
      continue;
    std::uint64_t secret = 0;
    if (is_ready(from, POLLIN) && recv(from, &secret, sizeof secret, 0) == sizeof secret &&
        secret == own.secret)
      return from;
    close(from);
  }
  base::die("process %u has not connected to this one within %d seconds", rank, patience / 1000);
}

// A neighbour that does not answer for so many seconds is dead.
void probe(int neighbour) noexcept {
  constexpr int on = 1;
  constexpr int second = 1;
  constexpr int times = 3;
  setsockopt(neighbour, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(neighbour, IPPROTO_TCP, TCP_KEEPIDLE, &second, sizeof second);
  setsockopt(neighbour, IPPROTO_TCP, TCP_KEEPINTVL, &second, sizeof second);
  setsockopt(neighbour, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

} // namespace

std::vector<watch::watched> ring::connect(group& processes) {
  rank_ = processes.rank();
  size_ = processes.size();
  if (size_ == 1)
    return {};
  place own;
  if (getrandom(&own.secret, sizeof own.secret, 0) != sizeof own.secret)
    die_of("no random number can be had");
  own.machine = this_machine();
  note_addresses(own);
  const int listening = listen_somewhere(own);
  std::vector<place> all(size_);
  processes.all_gather(&own, all.data(), sizeof own);
  const unsigned next = (rank_ + 1) % size_;
  const unsigned before = (rank_ + size_ - 1) % size_;
  // All listen by now, and a connection waits to be welcomed, so no process waits for another here.
  neighbours_ = {reach(all[next], own, next), -1};
  neighbours_[1] = welcome(listening, own, before);
  close(listening);
  std::vector<watch::watched> watched;
  for (const unsigned whose : {next, before}) {
    const int from = neighbours_[watched.size()];
    probe(from);
    watched.push_back({from, "process " + std::to_string(whose),
                       [this, from, whose] { return heard(from, whose); }});
  }
  return watched;
}

void ring::meet() noexcept {
  if (size_ == 1)
    return;
  if (rank_ == 0)
    tell(has_come, 1);
  else
    come();
  for (unsigned tries = 1; met_.load(base::acquire) == 0; ++tries) // M
    idle_for_a_while(tries);
}

// Called twice: when this process comes to the meeting, and when it hears that all before it have.
// The second call passes the word on.
void ring::come() noexcept {
  if (missing_.fetch_sub(1, base::acq_rel) == 1) // M
    tell(has_come, 1);
}

void ring::have_met() noexcept {
  met_.store(1, base::release); // M
  if (rank_ + 1 != size_)
    tell(has_met, 1);
}

void ring::end_well() noexcept {
  over_.store(1, base::release); // V
  tell(ended, neighbours_.size());
}

// Called by the watch's thread.
watch::sign ring::heard(int from, unsigned whose) noexcept {
  std::uint32_t message = whose; // if the connection is closed, the neighbour itself has died
  if (recv(from, &message, sizeof message, 0) < 0 && errno == EAGAIN)
    return watch::sign::alive;                            // there is nothing to read after all
  if (message == ended || over_.load(base::acquire) != 0) // V
    return watch::sign::ended_well;
  if (message == has_met || message == has_come) {
    if (message == has_met || rank_ == 0)
      have_met();
    else
      come();
    return watch::sign::alive;
  }
  tell(message, neighbours_.size());
  base::die(watch::sentence, message);
}

void ring::tell(std::uint32_t message, std::size_t number) noexcept {
  for (std::size_t i = 0; i < number; ++i)
    send(neighbours_[i], &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace nopal::inline NOPAL_ABI::process
