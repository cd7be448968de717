// SPDX-License-Identifier: MIT
// Fibril's count of strands, under a lock of the frame.
//
//   children   detached children that are still running
//   arrived    the main path stands at the join
//
// A thief counts its steal while it holds the deque's lock, as in Fibril. Fibril's count includes
// the main path; if the thief counted later, a child that finishes first would find zero. (Here
// `arrived` would prevent that.) So this join needs a deque that steals under a lock, and a thief
// holds the two locks at once, the deque's first.
// The last strand is the one that finds `children` zero after the main path has arrived: a child,
// or the main path itself. Each other strand's last access is the one that unlocks.
//
// Paper: fibril-spaa16, listings 2 and 3.
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

class locked {
public:
  static constexpr bool counts_under_deque_lock = true;

  // Called by the thief that has just stolen the main path, under the deque's lock.
  void count_steal() noexcept {
    const base::locked guard{lock_};
    alpha_ = alpha_ + 1;
    children_ = children_ + 1;
  }
  // Called by the main path.
  std::int64_t steals() const noexcept { return alpha_; }

  bool child_finished() noexcept {
    const base::locked guard{lock_};
    children_ = children_ - 1;
    return children_ == 0 && arrived_;
  }

  bool last_child() const noexcept {
    const base::locked guard{lock_};
    return children_ == 1 && arrived_;
  }

  bool arrive() noexcept {
    const base::locked guard{lock_};
    arrived_ = true;
    return children_ == 0;
  }

  void reset() noexcept {
    alpha_ = 0;
    arrived_ = false;
  }

private:
  mutable base::spin_lock lock_;
  base::handed_over<bool> arrived_{false};
  base::handed_over<std::int64_t> alpha_{0};
  base::handed_over<std::int64_t> children_{0};
};

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
