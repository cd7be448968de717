// SPDX-License-Identifier: MIT
// Which vprocs a computation has been given (nopal/vprocs.h).
//
// A Vproc has a member `base::handed_over<std::uint32_t> computations`: how many have been given
// it.
//
// Invariant (lock free): for each vproc, `computations` is the number of sets that have its place.
// Ownership: `computations` of all vprocs, and all sets, belong to the holder of the lock, which
//            all sets share.
// Paper: manticore-icfp08, section 3.1: `provision` gives no vproc twice to one computation, and
//        balances computations over vprocs.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

// The numbers of all vprocs are below `Most`.
template <class Vproc, std::size_t Most> class provisions {
public:
  static constexpr std::size_t none = ~std::size_t{0};

  // Of the vprocs that this set has not got, takes one that the fewest sets have, and returns its
  // number; none: the set has all. at(i) is the i-th of `count`.
  template <class At> std::size_t take(base::spin_lock& lock, std::size_t count, At at) noexcept {
    const base::locked guard{lock};
    std::size_t best = none;
    for (std::size_t i = 0; i < count; ++i)
      if (!has(i) && (best == none || at(i)->computations < at(best)->computations))
        best = i;
    if (best != none) {
      flip(best);
      at(best)->computations = at(best)->computations + 1;
    }
    return best;
  }

  // False: the set has not got it.
  bool give_back(base::spin_lock& lock, std::size_t number, Vproc* given) noexcept {
    const base::locked guard{lock};
    if (!has(number))
      return false;
    flip(number);
    given->computations = given->computations - 1;
    return true;
  }

  // The owner of the set, when it takes and gives back no more.
  bool any() const noexcept {
    for (const std::uint64_t each : taken_)
      if (each != 0)
        return true;
    return false;
  }

private:
  static constexpr std::size_t kBits = 64;

  bool has(std::size_t i) const noexcept {
    return (std::uint64_t{taken_[i / kBits]} >> (i % kBits) & 1) != 0;
  }
  void flip(std::size_t i) noexcept {
    taken_[i / kBits] = taken_[i / kBits] ^ std::uint64_t{1} << (i % kBits);
  }

  base::handed_over<std::uint64_t> taken_[(Most + kBits - 1) / kBits]{};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
