// SPDX-License-Identifier: MIT
// The fuel of an engine (nopal/engine.h). The strands of its computation spend it, with those of
// the computations below, and each unit is also taken from the meters around it.
//
// Invariant: a strand passes a fork, a poll or a yield when it has taken a unit from its meter and
//            from each one outside; so at most what was filled in is spent, however many spend.
// Orders: relaxed. What a strand needs to go on reaches it when it is made ready.
// Paper: manticore-icfp08, section 3.3.2 (the nested engines of Dybvig and Hieb).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/count.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

class meter {
public:
  static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

  meter() noexcept;
  ~meter();
  meter(const meter&) = delete;
  meter& operator=(const meter&) = delete;

  // Whether there is a meter anywhere.
  static bool any() noexcept { return alive.any(); }

  meter* outer = nullptr; // constant once the computation has begun

  void fill(std::uint64_t units) noexcept { left_.store(units, base::relaxed); }
  bool empty() const noexcept { return left_.load(base::relaxed) == 0; }

  // False: this meter or one outside is empty, and nothing is spent.
  bool spend() noexcept {
    std::uint64_t left = left_.load(base::relaxed);
    do {
      if (left == 0)
        return false;
    } while (!left_.compare_exchange_weak(left, left - 1, base::relaxed, base::relaxed));
    if (outer == nullptr || outer->spend())
      return true;
    left_.fetch_add(1, base::relaxed);
    return false;
  }

private:
  static base::count alive;

  base::atomic<std::uint64_t> left_{0};
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
