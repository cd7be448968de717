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
// They also meet by it. That all have come is known when the word "come" has gone round, which rank
// 0 begins, and each other one passes on when it has come itself. Then "met" goes round.
//
// Who ends as it should says so first. A machine that is cut off answers no probes (keepalive), and
// counts as dead after some seconds.
//
// Orders:
//   V  over: store release before the neighbours are told, since one that closes its end with that
//      unread makes the system reset the connection. Partner: the acquire of the watch's thread.
//   M  missing, met: acquire and release, as what happened before a process came happens before
//      another one has met.
#pragma once

#include "nopal/config.h"
#include "nopal/process/launch/launch.h"
#include "nopal/process/launch/watch.h"

#include <cstdint>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class ring {
public:
  // Collective. The connections, for a watch, which closes them. Ends the program with a sentence
  // if a neighbour cannot be reached.
  std::vector<watch::watched> connect(launch& with);
  // Collective, once: returns when all have come here.
  void meet() noexcept;
  // This process ends as it should.
  void end_well() noexcept;

private:
  watch::sign heard(int from, unsigned whose) noexcept;
  void tell(std::uint32_t what) noexcept;
  void tell_next(std::uint32_t what) noexcept;
  void come() noexcept;
  void have_met() noexcept;

  std::vector<int> neighbours_; // the next one, the one before
  unsigned rank_ = 0;
  unsigned size_ = 1;
  word missing_{2}; // before "come" is passed on: this process, and those before
  word met_{0};
  word over_{0};
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
