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
// A process that ends as it should says so first. A machine that is cut off answers no probes
// (keepalive), and counts as dead after some seconds.
//
// Ownership: neighbours, rank and size are set by `connect`, before the watch's thread begins, and
//            then constant.
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

#include <cstddef>
#include <cstdint>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class ring {
public:
  // Collective. Returns the connections, for a watch, which closes them. Ends the program with a
  // sentence if a neighbour cannot be reached.
  std::vector<watch::watched> connect(group& processes);
  // Collective, once: returns when all have come here.
  void meet() noexcept;
  // This process ends as it should.
  void end_well() noexcept;

private:
  watch::sign heard(int from, unsigned whose) noexcept;
  // To the first so many neighbours.
  void tell(std::uint32_t message, std::size_t number) noexcept;
  void come() noexcept;
  void have_met() noexcept;

  std::vector<int> neighbours_; // the next one, the one before
  unsigned rank_ = 0;
  unsigned size_ = 1;
  word missing_{2}; // what is missing to pass "come" on: this process, and the word from before
  word met_{0};
  word over_{0};
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
