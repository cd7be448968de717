// SPDX-License-Identifier: MIT
// Connections by which processes on one machine or many notice that one of them has died.
//
// Each process has a TCP connection with the next one and with the one before, in the order of
// ranks, last to first. The system closes those of a process that dies. Its neighbours say to the
// next ones who has died, and end; so the news goes round on both sides, whoever began the
// processes and whatever that does.
//
//      ... --- rank-1 --- rank --- rank+1 --- ...
//
// Who ends as it should says so first. A machine that is cut off answers no probes (keepalive), and
// counts as dead after some seconds.
//
// Orders:
//   V  over: store release before the neighbours are told, since one that closes its end with that
//      unread makes the system reset the connection. Partner: the acquire of the watch's thread.
#pragma once

#include "nopal/config.h"
#include "nopal/process/launch.h"
#include "nopal/process/watch.h"

#include <vector>

namespace nopal::inline NOPAL_ABI::process {

class ring {
public:
  // Collective. The connections, for a watch, which closes them. Ends the program with a sentence
  // if a neighbour cannot be reached.
  std::vector<watch::watched> connect(launch& with);
  // This process ends as it should.
  void end_well() noexcept;

private:
  bool heard(int from, unsigned whose) noexcept;
  void tell(unsigned number) noexcept;

  std::vector<int> neighbours_;
  word over_{0};
};

} // namespace nopal::inline NOPAL_ABI::process
