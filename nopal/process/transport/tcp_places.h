// SPDX-License-Identifier: MIT
// Where processes take connections of others by TCP, and how such connections are made.
//
// A process listens at the loopback alone where all processes are on one machine, and else at those
// of this machine's other addresses that its launch has chosen.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/sealed.h"
#include "nopal/process/transport/shared_memory.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// An address and a port, as the network has them.
struct tcp_address {
  std::uint32_t host = 0; // 0: none
  std::uint16_t port = 0;

  std::string text() const; // 10.0.0.1:4711
};

// Where one process listens.
struct tcp_place {
  machine_name machine = {};
  std::array<tcp_address, 15> addresses{};

  bool has(std::uint32_t host) const noexcept;
};

struct listening {
  tcp_place place = {};
  std::vector<int> sockets = {};
};

// Addresses of this machine, as the network has them.
using hosts = std::vector<std::uint32_t>;

// Collective. `chosen` is not looked at where all processes are on one machine. Ends the program
// with a sentence if no port can be had.
listening listen_for_others(group& all, const hosts& chosen);

// A connection to a process, and what both sides have to know to seal its messages.
struct tcp_way {
  int to = -1;
  direction asks;
  direction answers;
};

// Connects with the process `answering`, and has proved to it, and it to this one, that both know
// the secret. Ends the program with a sentence if it cannot be reached.
tcp_way connect_by_tcp(const secret& key, unsigned asking, unsigned answering,
                       const tcp_place& there, const tcp_place& here);

// Both wait for the other side as long as it takes. False: the connection has ended; errno is 0 if
// the other side has closed it.
bool send_all(int to, const void* first, std::size_t first_bytes, const void* second = nullptr,
              std::size_t second_bytes = 0) noexcept;
bool receive_all(int from, void* to, std::size_t bytes) noexcept;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
