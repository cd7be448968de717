// SPDX-License-Identifier: MIT
// Connections by which processes on one machine or many notice that one of them has died.
//
// Each process has a TCP connection with the next one and with the one before, in the order of
// ranks; the first follows the last. The system closes those of a process that dies. Its neighbours
// tell their other neighbours which process has died, and end; so the news goes round on both
// sides, whatever the launcher does.
//
//      ... --- rank-1 --- rank --- rank+1 --- ...
//
// The processes also meet by the ring. Rank 0 begins the word "come", and each other process passes
// it on when it has come itself. When the word has gone round, all have come; then "met" goes
// round.
//
// Neighbours prove to each other that they are of the session before they obey (handshake.h). Where
// the one before is on the same machine a process listens at loopback alone, and else at the
// addresses of interfaces.h.
//
// A process that ends as it should says so first. A machine that is cut off answers no probes
// (keepalive), and counts as dead after some seconds.
//
// Ownership: neighbours, rank, size and addresses are set by `connect`, before the watch's thread
//            begins. Then they are constant, but for what has come of a word, which is that
//            thread's own.
// Orders:
//   V  over: store release before the neighbours hear of it. A neighbour that closes its end
//      without having read that makes the system reset the connection, which is no death then.
//      Partner: the acquire of the watch's thread.
//   M  missing, met: acquire and release, so that what a process did before it came happens before
//      what another one does after it has met.
#pragma once

#include "nopal/config.h"
#include "nopal/process/launch/watch.h"
#include "nopal/process/transport/transport.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class ring {
public:
  // Collective. `interfaces` is the option of that name. Returns the connections, for a watch,
  // which closes them. Ends the program with a sentence if a neighbour cannot be reached.
  std::vector<watch::watched> connect(group& processes, const std::string& interfaces);
  // After it: the addresses of this machine by which other machines reach it, as the network has
  // them; none where all processes are on one.
  const std::vector<std::uint32_t>& addresses() const noexcept { return addresses_; }
  // Collective, once: returns when all have come here.
  void meet() noexcept;
  // This process ends as it should.
  void end_well() noexcept;

private:
  struct neighbour {
    int connection = -1;
    unsigned rank = 0;
    bool is_before = false;
    std::array<unsigned char, sizeof(std::uint32_t)> word{}; // the one that comes next
    std::size_t got = 0;                                     // bytes of it
    std::array<bool, 2> has_said{};                          // "come", "met": each once at most
  };

  watch::sign heard(neighbour& from) noexcept;
  watch::sign obey(neighbour& from, std::uint32_t message) noexcept;
  void pass_on(neighbour& from, std::uint32_t message) noexcept;
  // To these neighbours.
  void tell(std::uint32_t message, std::span<const neighbour> whom) noexcept;
  std::span<const neighbour> next() const noexcept { return {neighbours_.data(), 1}; }
  void come() noexcept;
  void have_met() noexcept;

  std::array<neighbour, 2> neighbours_; // the next one, the one before
  unsigned rank_ = 0;
  unsigned size_ = 1;
  std::vector<std::uint32_t> addresses_;
  word missing_{2}; // what is missing to pass "come" on: this process, and the word from before
  word met_{0};
  word over_{0};
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
