// SPDX-License-Identifier: MIT
// Looks for a random program of random_cancellation.h that goes wrong.
#pragma once

#include "tests/api/random_cancellation.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace nopal_test {

// The first seed in [first, last) whose program goes wrong, and says what; `last`: none.
inline std::uint64_t first_wrong(std::uint64_t first, std::uint64_t last, int depth) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    random_cancellation program{seed};
    if (const std::string wrong = program.run(depth); !wrong.empty()) {
      std::fprintf(stderr, "seed %ju: %s\n", static_cast<std::uintmax_t>(seed), wrong.c_str());
      return seed;
    }
  }
  return last;
}

// The same in a process of its own, configured so.
inline std::optional<std::uint64_t> first_wrong_with(const nopal::options& asked, bool forced,
                                                     std::uint64_t first, std::uint64_t last,
                                                     int depth) {
  return apart([=] {
    nopal::configure(asked);
    if (forced)
      nopal::vproc::force_steals(first + asked.num_workers);
    return first_wrong(first, last, depth);
  });
}

} // namespace nopal_test
