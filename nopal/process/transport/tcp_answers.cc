// SPDX-License-Identifier: MIT
// How callers become known, and what they are answered.
#include "nopal/process/transport/tcp_answers.h"

#include "nopal/base/die.h"
#include "nopal/base/os.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr std::size_t most_strangers = 256;
constexpr std::chrono::seconds patience{5};
constexpr int look_ms = 1000; // after slow strangers

std::string name_of_other_end(int socket) {
  sockaddr_in other{};
  socklen_t size = sizeof other;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&other), &size) != 0)
    return "an address that has gone";
  return tcp_address{other.sin_addr.s_addr, other.sin_port}.text();
}

void await(int arrivals, int descriptor) {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.fd = descriptor;
  if (descriptor < 0 || epoll_ctl(arrivals, EPOLL_CTL_ADD, descriptor, &wanted) != 0)
    base::die("other processes cannot be answered: %s", std::strerror(errno));
}

} // namespace

tcp_answers::tcp_answers(std::vector<int> sockets, const secret& key, unsigned rank,
                         unsigned processes, const layout& memory)
    : listening_{std::move(sockets)}, key_{key}, rank_{rank}, processes_{processes},
      memory_{memory}, arrivals_{epoll_create1(EPOLL_CLOEXEC)}, stop_{eventfd(0, EFD_CLOEXEC)} {
  await(arrivals_, stop_);
  for (const int each : listening_)
    await(arrivals_, each);
  thread_ = base::thread{"answers other processes", [this] { answer(); }};
}

tcp_answers::~tcp_answers() {
  eventfd_write(stop_, 1);
  thread_.join();
  for (const callers* all : {&strangers_, &known_})
    for (const auto& each : *all)
      close(each.first);
  for (const int each : listening_)
    close(each);
  close(arrivals_);
  close(stop_);
}

void tcp_answers::answer() {
  base::ask_for_short_turns();
  for (;;) {
    epoll_event came[16];
    const int number =
        epoll_wait(arrivals_, came, std::size(came), strangers_.empty() ? -1 : look_ms);
    if (number < 0 && errno != EINTR)
      base::die("other processes cannot be answered any more: %s", std::strerror(errno));
    for (int i = 0; i < number; ++i) {
      const int from = came[i].data.fd;
      if (from == stop_)
        return;
      if (std::ranges::count(listening_, from) != 0)
        accept_from(from);
      else
        hear(known_.contains(from) ? known_ : strangers_, from);
    }
    drop_slow_strangers();
  }
}

// If the process has no descriptor left, the connection waits. It would be announced at once again.
void tcp_answers::accept_from(int listening) {
  const int from = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (from < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      drop_oldest_stranger();
      base::sleep_us(1000);
    }
    return;
  }
  constexpr int on = 1;
  setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (strangers_.size() == most_strangers)
    drop_oldest_stranger();
  await(arrivals_, from);
  strangers_.try_emplace(from);
}

void tcp_answers::hear(callers& from, int socket) {
  const auto found = from.find(socket);
  if (found == from.end())
    return; // it was dropped after it had been announced
  if (!receive(socket, found->second))
    drop(from, socket);
  else if (&from == &strangers_ && found->second.at >= stage::asks)
    known_.insert(strangers_.extract(found));
}

bool tcp_answers::receive(int socket, caller& from) {
  for (;;) {
    void* to = nullptr;
    std::size_t bytes = 0;
    switch (from.at) {
    case stage::greets:
      to = &from.said.first;
      bytes = sizeof from.said.first;
      break;
    case stage::proves:
      to = &from.proof;
      bytes = sizeof from.proof;
      break;
    case stage::asks:
      to = &from.asked;
      bytes = sizeof from.asked;
      break;
    case stage::brings:
      to = from.content.data();
      bytes = from.asked.what.content;
      break;
    }
    const ssize_t got = recv(socket, static_cast<char*>(to) + from.got, bytes - from.got, 0);
    if (got < 0)
      return errno == EAGAIN || errno == EINTR;
    if (got == 0)
      return false;
    from.got += static_cast<std::size_t>(got);
    if (from.got < bytes)
      continue;
    from.got = 0;
    if (!understand(socket, from))
      return false;
  }
}

// Called when the caller has said all that it says at a stage.
bool tcp_answers::understand(int socket, caller& from) {
  switch (from.at) {
  case stage::greets:
    return welcome_caller(socket, from);
  case stage::proves:
    if (from.proof != proof_of_side(key_, side::asking, from.said))
      return false;
    from.asks = {key_, side::asking, from.said};
    from.answers = {key_, side::answering, from.said};
    from.at = stage::asks;
    return reply(socket, from, {});
  case stage::asks:
    if (!from.asks.believes(from.asked))
      return disobey(from);
    require_well(from.said.first.asking, from.asked.what, from.asked.what.content, memory_);
    if (from.asked.what.content == 0)
      return obey(socket, from);
    from.content.resize(in_words(from.asked.what.content));
    from.at = stage::brings;
    return true;
  case stage::brings:
    from.at = stage::asks;
    return from.asks.believes(from.asked, from.content.data()) ? obey(socket, from) : disobey(from);
  }
  return false;
}

bool tcp_answers::welcome_caller(int socket, caller& from) const {
  const hello& first = from.said.first;
  if (first.begins != hello::first_word || first.answering != rank_ || first.asking >= processes_ ||
      first.asking == rank_)
    return false;
  from.said.answer = unknown_number();
  const welcome own{from.said.answer, proof_of_side(key_, side::answering, from.said)};
  from.at = stage::proves;
  return send(socket, &own, sizeof own, MSG_NOSIGNAL) == sizeof own;
}

bool tcp_answers::obey(int socket, caller& from) {
  const content done = execute(from.asked.what, from.content.data(), memory_);
  return from.asked.what.kind == operation::store || reply(socket, from, done);
}

// The connection is worth nothing any more: where the next message begins is not known.
bool tcp_answers::disobey(const caller& whose) const {
  base::say("process %u has not obeyed what came by TCP as from process %u: it was changed or said "
            "twice on its way",
            rank_, whose.said.first.asking);
  return false;
}

bool tcp_answers::reply(int socket, caller& to, const content& with) {
  const request answer{operation::answer, static_cast<std::uint32_t>(with.bytes)};
  const head sealed = to.answers.seal(answer, with.words.data());
  return send_all(socket, &sealed, sizeof sealed, with.words.data(), with.bytes);
}

void tcp_answers::drop_oldest_stranger() {
  const auto oldest =
      std::ranges::min_element(strangers_, {}, [](const auto& each) { return each.second.since; });
  if (oldest != strangers_.end())
    drop(strangers_, oldest->first);
}

void tcp_answers::drop_slow_strangers() {
  const auto before = clock::now() - patience;
  while (!strangers_.empty()) {
    const auto slow = std::ranges::find_if(
        strangers_, [&](const auto& each) { return each.second.since < before; });
    if (slow == strangers_.end())
      return;
    drop(strangers_, slow->first);
  }
}

// A process that is known closes its connection when its session has ended, or it has died, which
// is noticed elsewhere.
void tcp_answers::drop(callers& of, int socket) {
  if (of.at(socket).at < stage::asks && !said_) {
    said_ = true;
    base::say("process %u has turned away %s, which has connected to it without a proof that it is "
              "of this session; more such are not mentioned",
              rank_, name_of_other_end(socket).c_str());
  }
  of.erase(socket);
  close(socket);
}

} // namespace nopal::inline NOPAL_ABI::process
