// SPDX-License-Identifier: MIT
//
// What must not start any more: in serial order, all that comes after a function that has thrown.
//
// A sequence is one `invoke`: functions 0, 1, ... of which each may run in parallel with the later
// ones. A position is one function of a sequence, while it runs; a sequence that is part of that
// function, as in a loop's tree, knows it. A function is overtaken if an earlier one of its
// sequence has thrown, or if the sequence itself is part of a function that is overtaken. To ask is
// to read one word, unless something has failed somewhere in the outermost sequence.
//
// A user's function is a whole: one that has started goes on to its end, with all it begins. It
// could not be told to stop but by an exception where the serial elision throws none.
//
// Ownership: a sequence and its positions lie in frames that outlive all who ask. `first_` and
// `failing_` are written by any function that throws. All orders are relaxed: that a function is
// not started is an optimisation where it could have been running already, and where it could not,
// the one that threw ran on the same thread, or was joined.
// Paper: manticore-icfp08, section 6.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>
#include <limits>

namespace nopal::inline NOPAL_ABI::join {

class sequence;

struct position {
  sequence* of;
  std::uint32_t function;
};

class sequence {
public:
  // `within`: what it is a part of; null: nothing.
  explicit sequence(const position* within) noexcept
      : within_{within}, root_{within == nullptr ? this : within->of->root_} {}
  ~sequence() {
    if (first_.load(base::relaxed) != none)
      root_->failing_.fetch_sub(1, base::relaxed);
  }
  sequence(const sequence&) = delete;
  sequence& operator=(const sequence&) = delete;

  // This function has thrown.
  void note_failure(std::uint32_t function) noexcept;

  // It must not start.
  bool overtaken(std::uint32_t function) const noexcept {
    return root_->failing_.load(base::relaxed) != 0 && is_overtaken(function);
  }

private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  bool is_overtaken(std::uint32_t function) const noexcept;

  const position* within_;
  sequence* root_;                          // the outermost one
  base::atomic<std::uint32_t> first_{none}; // that has thrown
  base::atomic<std::uint32_t> failing_{0};  // of a root: sequences in which something has thrown
};

} // namespace nopal::inline NOPAL_ABI::join
