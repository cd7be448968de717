// SPDX-License-Identifier: MIT
// A thread that answers what other processes ask of this one by TCP. It sleeps until something
// arrives.
//
// Anybody who reaches the port can connect. Nobody is obeyed who has not proved that he knows the
// session's secret (sealed.h); until then a connection may bring 32 bytes, has some seconds, and is
// one of few: when another one comes, the oldest goes. So strangers can neither end nor stall the
// session. Of the first stranger a sentence is said.
//
// Ownership: all but the socket that wakes the thread belongs to the thread.
#pragma once

#include "nopal/base/thread.h"
#include "nopal/config.h"
#include "nopal/process/transport/tcp_places.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class tcp_answers {
public:
  // Takes the sockets, at which others connect.
  tcp_answers(std::vector<int> sockets, const secret& key, unsigned rank, unsigned processes,
              const layout& memory);
  ~tcp_answers();
  tcp_answers(const tcp_answers&) = delete;
  tcp_answers& operator=(const tcp_answers&) = delete;

private:
  using clock = std::chrono::steady_clock;
  enum class stage { greets, proves, asks, brings };

  // Who has connected.
  struct caller {
    stage at = stage::greets;
    std::size_t got = 0; // bytes of what it says now
    introduction said = {};
    std::uint64_t proof = 0;
    head asked = {};
    std::vector<std::uint64_t> content = {};
    direction asks = {};
    direction answers = {};
    clock::time_point since = clock::now();
  };
  using callers = std::unordered_map<int, caller>; // by socket

  void answer();
  void accept_from(int listening);
  void hear(callers& from, int socket);
  // All of type bool are false if the connection is to be closed.
  bool receive(int socket, caller& from);
  bool understand(int socket, caller& from);
  bool welcome_caller(int socket, caller& from) const;
  bool obey(int socket, caller& from);
  bool disobey(const caller& whose) const;
  static bool reply(int socket, caller& to, const content& with);
  void drop_oldest_stranger();
  void drop_slow_strangers();
  void drop(callers& of, int socket);

  const std::vector<int> listening_;
  const secret key_;
  const unsigned rank_;
  const unsigned processes_;
  const layout memory_;
  const int arrivals_;
  const int stop_;
  callers strangers_; // have not proved anything yet
  callers known_;
  bool said_ = false;   // that there was a stranger
  base::thread thread_; // begins when all else is set
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
