// SPDX-License-Identifier: MIT
// Scans of the standard's algorithms: prefix sums over pieces of a range [0, n).
//
// strict_scan  sums all pieces, then scans all: two passes, each piece once in each.
// lazy_scan    scans a piece whose prefix is known, and sums only what a thief takes before that:
//              a child scans the left half, and its continuation, the right half, sums if the
//              child still runs. Nobody steals: one pass. Work at most that of strict_scan.
#pragma once

#include "nopal/base/flag.h"
#include "nopal/config.h"
#include "nopal/pstl/loops.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

// Calls left(); and beside_it() at the same time, but only if a thief comes before left() has
// ended. Returns whether it was called.
template <class Left, class Beside> bool with_a_thief(const Left& left, const Beside& beside_it) {
  base::flag ended;
  bool called = false;
  invoke_both(
      [&] {
        left();
        ended.take();
      },
      [&] {
        if (ended.taken())
          return;
        called = true;
        beside_it();
      });
  return called;
}

// [0, n) in pieces of which the first are one longer than the last.
template <class Index> class pieces {
public:
  explicit pieces(Index n)
      : count_{std::min(pieces_max, static_cast<std::size_t>(n))}, //
        length_{static_cast<std::size_t>(n) / count_},
        longer_{static_cast<std::size_t>(n) % count_} {}

  std::size_t count() const { return count_; }
  Index begin(std::size_t piece) const {
    return static_cast<Index>(piece * length_ + std::min(piece, longer_));
  }
  Index end(std::size_t piece) const { return begin(piece + 1); }
  Index length(std::size_t piece) const { return end(piece) - begin(piece); }

private:
  static constexpr std::size_t pieces_max = 128;
  std::size_t count_;
  std::size_t length_;
  std::size_t longer_;
};

// body(i) for each i below the count, each a piece of its own.
template <class Body> void for_each_number(std::size_t count, const Body& body) {
  const auto one_piece = [&](std::size_t i, std::size_t) { body(i); };
  if (count != 0)
    run_pieces(count, 1, piece_ref{one_piece});
}

// sum(i, length) of each piece; then total(the sum of init and all); then scan(i, length, prefix)
// of each piece. T is trivial, and combine does not throw.
template <class Index, class T, class Sum, class Combine, class Scan, class Total>
void strict_scan(Index n, T init, const Sum& sum, Combine combine, const Scan& scan,
                 const Total& total) {
  if (n <= 0) {
    total(init);
    return;
  }
  const pieces<Index> all{n};
  const std::unique_ptr<T[]> sums{new T[all.count()]};
  const auto add_up = [&] { // each sum becomes what stands before its piece
    T prefix = init;
    for (std::size_t i = 0; i < all.count(); ++i) {
      T next = combine(prefix, sums[i]);
      sums[i] = std::move(prefix);
      prefix = std::move(next);
    }
    total(prefix);
  };
  apart([&] {
    for_each_number(all.count(),
                    [&](std::size_t i) { sums[i] = sum(all.begin(i), all.length(i)); });
    add_up();
    for_each_number(all.count(), [&](std::size_t i) {
      static_cast<void>(scan(all.begin(i), all.length(i), sums[i]));
    });
  });
}

template <class Index, class T, class Map, class Combine, class Sum, class Scan> class lazy_scan {
public:
  lazy_scan(Index n, const Map& map, const Combine& combine, const Sum& sum, const Scan& scan)
      : all_{n}, map_{map}, combine_{combine}, sum_{sum}, scan_{scan}, sums_(all_.count()) {}

  T run(T init) { return scan_all(0, all_.count(), std::move(init)); }

private:
  // The pieces from `low` on, with what stands before them. Returns what stands before `high`.
  T scan_all(std::size_t low, std::size_t high, T prefix) {
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      std::optional<T> left;
      if (with_a_thief([&] { left.emplace(scan_all(low, middle, std::move(prefix))); },
                       [&] {
                         for_each_number(high - middle,
                                         [&](std::size_t i) { sum_piece(middle + i); });
                       }))
        return scan_summed(middle, high, *std::move(left));
      prefix = *std::move(left);
      low = middle;
    }
    return scan_(all_.begin(low), all_.end(low), std::move(prefix));
  }

  void sum_piece(std::size_t piece) {
    Map own = map_; // it may be a function that changes itself
    const Index begin = all_.begin(piece);
    T first = own(begin);
    sums_[piece].emplace(all_.length(piece) == 1
                             ? std::move(first)
                             : sum_(begin + 1, all_.end(piece), std::move(first)));
  }

  // The same where the sums of these pieces are known.
  T scan_summed(std::size_t low, std::size_t high, T prefix) {
    Combine own = combine_;
    for (std::size_t i = low; i < high; ++i) {
      T next = own(prefix, *std::move(sums_[i]));
      sums_[i].emplace(std::move(prefix));
      prefix = std::move(next);
    }
    for_each_number(high - low, [&](std::size_t i) {
      const std::size_t piece = low + i;
      scan_(all_.begin(piece), all_.end(piece), *std::move(sums_[piece]));
    });
    return prefix;
  }

  const pieces<Index> all_;
  const Map& map_;
  const Combine& combine_;
  const Sum& sum_;
  const Scan& scan_;
  std::vector<std::optional<T>> sums_; // those that are not scanned yet
};

// scan(i, j, prefix) of pieces, which returns the sum of the prefix and the piece; returns that of
// init and all. sum(i, j, s) adds the elements of [i, j) to s without scanning them.
template <class Index, class T, class Map, class Combine, class Sum, class Scan>
T transform_scan(Index n, const Map& map, T init, const Combine& combine, const Sum& sum,
                 const Scan& scan) {
  if (n <= 0)
    return init;
  lazy_scan<Index, T, Map, Combine, Sum, Scan> all{n, map, combine, sum, scan};
  return apart([&] { return all.run(std::move(init)); });
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END
