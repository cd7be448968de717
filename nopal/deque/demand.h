// SPDX-License-Identifier: MIT
//
// How many offers of a worker should be public at a time.
//
// One is enough where the owner forks often: whoever wants another asks. Where a thief had to
// publish in the owner's name, the owner forks too rarely, and each time costs a heavy barrier:
// then twice as many are wanted as before. An offer that was public and is taken back was one too
// many. So a starvation pays for what is published in vain after it, and a program whose offers are
// all stolen keeps its demand.
//
// Thread rules: under the deque's lock.
// Paper: ours.
#pragma once

#include "nopal/config.h"

#include <algorithm>
#include <cstdint>

namespace nopal::inline NOPAL_ABI::deque {

template <std::uint32_t Most> class demand {
public:
  bool wants_more_than(std::uint32_t publicly) const noexcept { return publicly < wanted_; }
  // Whether publishing waits until somebody asks.
  bool is_least() const noexcept { return wanted_ == 1; }

  void starved() noexcept { wanted_ = std::min(2 * wanted_, Most); }
  void taken_back() noexcept { wanted_ -= wanted_ > 1 ? 1 : 0; }

private:
  std::uint32_t wanted_ = 1;
};

} // namespace nopal::inline NOPAL_ABI::deque
