// SPDX-License-Identifier: MIT
// n-queens by `either`, a search that the bench `cancelling` stops (manticore-icfp08, section 7.4).
//
// A row's columns are halved into two alternatives until one is left. A board that is full counts
// as a failure, so that the search ends at a time that the bench chooses, and not before: with 20
// queens it would go on for years.
#pragma once

#include "bench/cancelling_runtimes.h"

#include <nopal/either.h>

#include <atomic>
#include <bit>
#include <optional>

namespace bench {

class queens {
public:
  // A search that goes on until it is cancelled.
  queens() = default;
  // The first path that ends after this time gives an answer, and so does each path after it.
  explicit queens(clock::time_point until) : until_{until} {}

  // Returns whether there was an answer.
  bool search() { return explore({}, all_columns).has_value(); }

  long begun() const { return begun_first_ + begun_second_; }
  // To be asked when the search has stopped: the number of alternatives that had begun and did not
  // end, each a strand, and of forks whose second alternative had not begun.
  long stopped_strands() const { return begun() - ended_; }
  long open_forks() const { return begun_first_ - begun_second_; }
  // The time of the first answer.
  clock::time_point answered() const { return answer_.at; }

private:
  static constexpr int rows = 20;
  static constexpr unsigned all_columns = (1u << rows) - 1;

  // A bit for each column and each diagonal that is taken.
  struct board {
    int row = 0;
    unsigned columns = 0;
    unsigned left = 0;
    unsigned right = 0;

    unsigned free() const { return all_columns & ~(columns | left | right); }
    board with_queen(unsigned bit) const {
      return {row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1};
    }
  };

  // Puts the next queen on one of the columns `among`.
  std::optional<board> explore(board b, unsigned among) {
    for (; std::has_single_bit(among); among = b.free())
      b = b.with_queen(among);
    if (among == 0)
      return at_end(b);
    unsigned lower = 0;
    unsigned upper = among;
    for (int half = std::popcount(among) / 2; half > 0; --half, upper &= upper - 1)
      lower |= upper & -upper;
    return nopal::either([this, b, lower] { return alternative(b, lower, begun_first_); },
                         [this, b, upper] { return alternative(b, upper, begun_second_); });
  }
  [[gnu::always_inline]] std::optional<board> alternative(const board& b, unsigned among,
                                                          std::atomic<long>& begun) {
    begun.fetch_add(1, std::memory_order_relaxed);
    const std::optional<board> found = explore(b, among);
    ended_.fetch_add(1, std::memory_order_relaxed); // a strand that is stopped skips this line
    return found;
  }
  std::optional<board> at_end(const board& b) {
    if (!until_ || clock::now() < *until_)
      return std::nullopt;
    answer_.claim();
    return b;
  }

  const std::optional<clock::time_point> until_;
  first_answer answer_;
  std::atomic<long> begun_first_{0};
  std::atomic<long> begun_second_{0};
  std::atomic<long> ended_{0};
};

} // namespace bench
