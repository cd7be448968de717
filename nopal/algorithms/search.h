// SPDX-License-Identifier: MIT
// Loops that stop early (find.h).
#pragma once

#include "nopal/algorithms/lazy.h"
#include "nopal/config.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

template <class GoesOn> struct searching {
  struct part {
    bool stopped = false;
    std::size_t at = 0;
  };
  const GoesOn& goes_on;

  part begin() const noexcept { return {}; }
  void extend(part& to, std::size_t from, std::size_t count) const {
    const held<GoesOn> own = goes_on;
    for (std::size_t i = from; i < from + count; ++i)
      if (!own(i)) {
        to = {true, i};
        return;
      }
  }
  void unite(part& low, part&& high) const noexcept { low = high; }
  bool stops(const part& found) const noexcept { return found.stopped; }
};

// The first i below `count` for which goes_on(i) is false, or `count`.
template <class GoesOn> std::size_t first_that_stops(std::size_t count, const GoesOn& goes_on) {
  typename searching<GoesOn>::part found;
  fold_lazily(count, searching<GoesOn>{goes_on}, found);
  return found.stopped ? found.at : count;
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
