// SPDX-License-Identifier: MIT
// What must not start any more: all that comes, in serial order, after a function that has thrown.
//
// A sequence is one `invoke`: functions 0, 1, ... of which each may run in parallel with the later
// ones. A position is one function of a sequence, while that function runs; a sequence within the
// function, as in a loop's tree, knows the position. A function is overtaken if an earlier one of
// its sequence has thrown, or if its sequence lies within a function that is overtaken. The test
// reads one word, unless something has failed somewhere in the outermost sequence.
//
// A user's function that has started runs to its end, with all that it begins: only an exception
// could stop it, and the serial elision throws none there.
//
// Ownership: a sequence and its positions lie in frames that outlive every strand that reads them.
// Any function that throws writes `first_` and `failing_`. All orders are relaxed: either the
// function could have started before, or the one that threw ran on the same thread or was joined.
// Paper: manticore-icfp08, section 6.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>
#include <limits>

namespace nopal::inline NOPAL_ABI::join {

// Thrown by an overtaken part of a structured form, and caught by the form's outer parts.
struct not_started {};

class sequence;

struct position {
  sequence* of;
  std::uint32_t function;
};

class sequence {
public:
  // `within`: the position that the sequence is a part of, or null.
  explicit sequence(const position* within) noexcept
      : within_{within}, root_{within == nullptr ? this : within->of->root_} {}
  ~sequence() {
    if (first_.load(base::relaxed) != none)
      root_->failing_.fetch_sub(1, base::relaxed);
  }
  sequence(const sequence&) = delete;
  sequence& operator=(const sequence&) = delete;

  // This function has thrown.
  void note_failure(std::uint32_t function) noexcept {
    std::uint32_t first = first_.load(base::relaxed);
    while (function < first &&
           !first_.compare_exchange_weak(first, function, base::relaxed, base::relaxed)) {
    }
    if (first == none)
      root_->failing_.fetch_add(1, base::relaxed);
  }

  // This function must not start.
  bool overtaken(std::uint32_t function) const noexcept {
    return root_->failing_.load(base::relaxed) != 0 && is_overtaken(function);
  }

private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  bool is_overtaken(std::uint32_t function) const noexcept {
    return first_.load(base::relaxed) < function ||
           (within_ != nullptr && within_->of->is_overtaken(within_->function));
  }

  const position* within_;
  sequence* root_;                          // the outermost one
  base::atomic<std::uint32_t> first_{none}; // first function that has thrown
  base::atomic<std::uint32_t> failing_{0};  // of the outermost: sequences that have such a function
};

} // namespace nopal::inline NOPAL_ABI::join
