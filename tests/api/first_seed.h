// SPDX-License-Identifier: MIT
// Looks among random programs, each of which its seed decides, for one that is wrong.
#pragma once

#include "tests/api/support.h"

#include <cstdint>
#include <optional>

namespace nopal_test {

// The first seed in [first, last) whose program is wrong; `last`: none is.
template <bool (*IsWrong)(std::uint64_t seed, int depth)>
std::uint64_t first_seed(std::uint64_t first, std::uint64_t last, int depth) {
  for (std::uint64_t seed = first; seed < last; ++seed)
    if (IsWrong(seed, depth))
      return seed;
  return last;
}

// The same in a process of its own with these options.
template <bool (*IsWrong)(std::uint64_t seed, int depth)>
std::optional<std::uint64_t> first_seed_with(const nopal::options& asked, bool forced,
                                             std::uint64_t first, std::uint64_t last, int depth) {
  return apart([=] {
    nopal::configure(asked);
    if (forced)
      nopal::vproc::force_steals(first + asked.num_workers);
    return first_seed<IsWrong>(first, last, depth);
  });
}

} // namespace nopal_test
