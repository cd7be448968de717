// SPDX-License-Identifier: MIT
// The turns of a stage that serves items in their order. Each item has a number, and a place that
// it shares with those whose numbers differ by a multiple of the number of places.
//
// Contract:   `serve` calls for the items 0, 1, 2, ... come one after the other, and each sees what
//             the one before did. An item that comes before its turn is left in its place; the
//             strand that ends the turn before goes on with it.
// Roles:      the strand of an item calls `has_turn`, then, if it has none, `leave_item`. The
//             strand that has served item n calls `take_item` for n, and then `pass_turn` to n + 1.
// Invariant:  of the strand that leaves an item and the one that passes the turn to it, the second
//             is told that the other was there, and serves the item: both exchange the word of its
//             place.
// Precondition: an item comes to its place after the turn of the last item there was passed on, and
//             sees that. A pipeline has no more items in flight than places (nopal/pipeline.h): the
//             items from the one that has the turn to the newest are in flight, since none of them
//             has left this stage.
// Orders:
//   L  leave_item: exchange, release. Partner: the acquire of P, which reads the item.
//   P  pass_turn: exchange, release. Partners: the acquire of L, and has_turn. What was served is
//      seen by the strand that serves next.
//   take_item is relaxed: the next exchange of that word follows it by the precondition.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

class turn_of_place {
public:
  // Of the place of item 0, before any item comes: it has the turn.
  void begin() noexcept { word_.store(turn_came, base::relaxed); }

  bool has_turn() const noexcept { return word_.load(base::acquire) == turn_came; } // P
  // The item lies in its place. True: its turn came meanwhile, and the caller serves it.
  bool leave_item() noexcept { return word_.exchange(item_waits, base::acq_rel) == turn_came; } // L
  // The item was served, and its place is empty.
  void take_item() noexcept { word_.store(nothing, base::relaxed); }
  // True: the item lies in its place, and the caller serves it.
  bool pass_turn() noexcept { return word_.exchange(turn_came, base::acq_rel) == item_waits; } // P

private:
  enum state : std::uint32_t { nothing, item_waits, turn_came };

  base::atomic<std::uint32_t> word_{nothing};
};

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
