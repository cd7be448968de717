// SPDX-License-Identifier: MIT
// How a process finds its two neighbours by TCP among strangers: it reaches the next one, and
// welcomes the one before, both at a time, since each waits for the other's proof (handshake.h).
//
// Strangers may connect as often as they like, and say nothing, or anything. All connections are
// heard at a time, each has `patience` to prove itself, and one time limit holds for all. There are
// never more than `most_guests` of them: then a new one takes the place of the oldest. A neighbour
// whose connection was lost so, or did not get into the listener's queue, connects again. But once
// it has sent its proof it waits for the answer: else the two might disagree whether they have met.
#pragma once

#include "nopal/config.h"
#include "nopal/process/launch/handshake.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// As the network has both. A port of 0: none.
struct endpoint {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
};

// Listens at the address, at any port. Returns the descriptor, and sets the port.
int listen_at(endpoint& at);

struct neighbours {
  int next = -1; // connections
  int before = -1;
};

struct place_in_ring {
  unsigned rank;
  unsigned size;

  unsigned next() const noexcept { return (rank + 1) % size; }
  unsigned before() const noexcept { return (rank + size - 1) % size; }
};

inline constexpr std::size_t most_guests = 256;
inline constexpr std::chrono::seconds patience{10};    // with a guest
inline constexpr std::chrono::seconds until_number{3}; // which a listener sends at once
inline constexpr std::chrono::seconds time_limit{60};

// Returns when both have proved themselves. `next` is where the next process listens. Ends the
// program with a sentence if a neighbour cannot be reached, or does not come.
neighbours find_neighbours(const secret& key, const place_in_ring& own,
                           const std::vector<int>& listening, const std::vector<endpoint>& next);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
