// SPDX-License-Identifier: MIT
// Where neighbours listen, and what they say.
#include "nopal/process/launch/ring.h"

#include "nopal/base/die.h"
#include "nopal/process/launch/interfaces.h"
#include "nopal/process/launch/neighbours.h"
#include "nopal/process/transport/secret.h"
#include "nopal/process/transport/shared_memory.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// What a process tells a neighbour, besides the number of a process that has died.
constexpr std::uint32_t ended = 0xffffffff;
constexpr std::uint32_t has_come = 0xfffffffe;
constexpr std::uint32_t has_met = 0xfffffffd;

// What each process says before any listens. An address of 0: none.
struct place {
  machine_name machine;
  std::array<std::uint32_t, most_addresses> addresses{};
};

// Where a process listens for the one before. A port of 0: nowhere.
using entrances = std::array<endpoint, most_addresses>;

std::vector<std::uint32_t> addresses_of(const place& one) {
  std::vector<std::uint32_t> all{one.addresses.begin(), one.addresses.end()};
  std::erase(all, 0u);
  return all;
}

// Of the processes that are on other machines.
std::vector<std::vector<std::uint32_t>> addresses_of_others(const std::vector<place>& all,
                                                            const place& own) {
  std::vector<std::vector<std::uint32_t>> others;
  for (const place& each : all)
    if (each.machine != own.machine)
      others.push_back(addresses_of(each));
  return others;
}

// By process 0, where there are several machines and nobody has chosen.
void warn(const std::vector<own_address>& open) {
  base::say(
      "processes on other machines reach this one at %s, and theirs likewise: whoever reaches "
      "these addresses may do harm, so their network must be one that you trust; "
      "NOPAL_INTERFACES chooses others, or the same without this sentence (SECURITY.md)",
      names_of(open).c_str());
}

struct choice {
  std::vector<own_address> listens_at;
  std::vector<own_address> open; // to other machines
};

// Where this process listens.
choice choose(group& processes, const std::string& list, unsigned before) {
  const std::vector<own_address> found = find_addresses(list);
  place own{this_machine(), {}};
  std::ranges::transform(found, own.addresses.begin(), &own_address::address);
  std::vector<place> all(processes.size());
  processes.all_gather(&own, all.data(), sizeof own);
  const auto others = addresses_of_others(all, own);
  const std::vector<own_address> loopback{{htonl(INADDR_LOOPBACK), 0, {"lo"}}};
  if (others.empty())
    return {loopback, {}};
  if (found.empty())
    base::die("no other machine can reach this one: it has no interface that is up and has an IPv4 "
              "address, besides loopback; IPv6 alone is not enough");
  const auto open = list.empty() ? choose_addresses(found, others) : found;
  if (list.empty() && processes.rank() == 0)
    warn(open);
  return {all[before].machine == own.machine ? loopback : open, open};
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

std::vector<watch::watched> ring::connect(group& processes, const std::string& interfaces) {
  rank_ = processes.rank();
  size_ = processes.size();
  if (size_ == 1)
    return {};
  const place_in_ring own{rank_, size_};
  const secret key = agree_on_secret(processes);
  entrances open{};
  std::vector<int> listening;
  const choice chosen = choose(processes, interfaces, own.before());
  for (const own_address& each : chosen.open)
    addresses_.push_back(each.address);
  for (const own_address& each : chosen.listens_at) {
    endpoint& at = open[listening.size()];
    at.address = each.address;
    listening.push_back(listen_at(at));
  }
  std::vector<entrances> all(size_);
  processes.all_gather(&open, all.data(), sizeof open);
  std::vector<endpoint> next{all[own.next()].begin(), all[own.next()].end()};
  std::erase_if(next, [](const endpoint& at) { return at.port == 0; });
  const neighbours found = find_neighbours(key, own, listening, next); // all listen by now
  for (const int each : listening)
    close(each);
  neighbours_[0] = {.connection = found.next, .rank = own.next()};
  neighbours_[1] = {.connection = found.before, .rank = own.before(), .is_before = true};
  std::vector<watch::watched> watched;
  for (neighbour& each : neighbours_) {
    probe(each.connection);
    watched.push_back({each.connection, "process " + std::to_string(each.rank),
                       [this, &each] { return heard(each); }});
  }
  return watched;
}

void ring::meet() noexcept {
  if (size_ == 1)
    return;
  if (rank_ == 0)
    tell(has_come, next());
  else
    come();
  for (unsigned tries = 1; met_.load(base::acquire) == 0; ++tries) // M
    idle_for_a_while(tries);
}

// Called twice: when this process comes to the meeting, and when it hears that all before it have.
// The second call passes the word on.
void ring::come() noexcept {
  if (missing_.fetch_sub(1, base::acq_rel) == 1) // M
    tell(has_come, next());
}

// The word leaves first: once this process has met it may end, and the next one hears no more of it
// after that.
void ring::have_met() noexcept {
  if (rank_ + 1 != size_)
    tell(has_met, next());
  met_.store(1, base::release); // M
}

void ring::end_well() noexcept {
  over_.store(1, base::release); // V
  tell(ended, neighbours_);
}

// Called by the watch's thread. If the connection is closed, the neighbour itself has died.
watch::sign ring::heard(neighbour& from) noexcept {
  const ssize_t more =
      recv(from.connection, from.word.data() + from.got, from.word.size() - from.got, 0);
  if (more < 0 && (errno == EAGAIN || errno == EINTR))
    return watch::sign::alive; // there is nothing to read after all
  if (more > 0 && (from.got += static_cast<std::size_t>(more)) < from.word.size())
    return watch::sign::alive;
  std::uint32_t message = from.rank;
  if (more > 0)
    std::memcpy(&message, from.word.data(), sizeof message);
  from.got = 0;
  return obey(from, message);
}

watch::sign ring::obey(neighbour& from, std::uint32_t message) noexcept {
  if (message == ended || over_.load(base::acquire) != 0) // V
    return watch::sign::ended_well;
  if (message < size_) {
    tell(message, neighbours_);
    base::die(watch::sentence, message);
  }
  pass_on(from, message);
  return watch::sign::alive;
}

// The words of the meeting come from the process before, each once. Else somebody has put himself
// between the two, who can do anything with the connection, or the neighbour's memory is damaged.
void ring::pass_on(neighbour& from, std::uint32_t message) noexcept {
  const bool is_met = message == has_met;
  if ((message != has_come && !is_met) || !from.is_before ||
      std::exchange(from.has_said[is_met], true))
    base::die("process %u says %#x, which no process of this session says now: its connection is "
              "not safe, so this process ends",
              from.rank, message);
  if (is_met || rank_ == 0)
    have_met();
  else
    come();
}

void ring::tell(std::uint32_t message, std::span<const neighbour> whom) noexcept {
  for (const neighbour& each : whom)
    send(each.connection, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace nopal::inline NOPAL_ABI::process
