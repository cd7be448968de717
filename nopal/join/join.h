// SPDX-License-Identifier: MIT
//
// Strand coordination: what every variant of the join promises.
//
// A scope's main path is the strand that forks and joins; a child is detached once its
// continuation, the main path, was stolen. The coordination tells the last of them that it is the
// last. Until the main path arrives, nobody is; after that, exactly one call of child_finished or
// arrive returns true.
#pragma once

#include "nopal/config.h"

#include <concepts>
#include <cstdint>

namespace nopal::inline NOPAL_ABI::join {

template <class J>
concept strand_counter = requires(J join, const J seen) {
  // True: the thief counts while it holds the deque's lock. False: it may do so later, as the main
  // path.
  { J::counts_under_deque_lock } -> std::convertible_to<bool>;
  { join.count_steal() } noexcept;
  { seen.steals() } noexcept -> std::same_as<std::int64_t>;
  { join.child_finished() } noexcept -> std::same_as<bool>;
  { seen.last_child() } noexcept -> std::same_as<bool>;
  { join.arrive() } noexcept -> std::same_as<bool>;
  { join.reset() } noexcept;
};

} // namespace nopal::inline NOPAL_ABI::join
