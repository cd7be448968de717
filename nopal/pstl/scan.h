// SPDX-License-Identifier: MIT
// Scans of the standard's algorithms: prefix sums over blocks of a range [0, n)
// (algorithms/blocks.h).
//
// strict_scan     sums all blocks, then scans all: two passes, each block once in each.
// transform_scan  scans a block whose prefix is known, and sums first only what a thief takes.
#pragma once

#include "nopal/algorithms/blocks.h"
#include "nopal/config.h"
#include "nopal/pstl/loops.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

// Few, since each costs some calls; of one element where there are few.
inline algorithms::blocks blocks_of(std::size_t n) { return algorithms::blocks{n, 128, 1}; }

// body(block) for each.
template <class Body> void run_blocks(const algorithms::blocks& all, const Body& body) {
  const auto some = [&](std::size_t from, std::size_t to) {
    for (std::size_t block = from; block < to; ++block)
      body(block);
  };
  run_lazily(all.number, piece_ref{some}, all.length, algorithms::past_cost_of<Body>);
}

// sum(i, length) of each block; then total(the sum of init and all); then scan(i, length, prefix)
// of each block. T is trivial, and combine does not throw.
// A set operation of GCC 14 looks for the ends of its blocks by the program's comparison, so they
// may overlap (order.h), and nothing shows it. So all is one block there.
template <class Index, class T, class Sum, class Combine, class Scan, class Total>
void strict_scan(Index n, T init, const Sum& sum, Combine combine, const Scan& scan,
                 const Total& total) {
  if (n <= 0) {
    total(init);
    return;
  }
  constexpr bool of_sets = requires(T range) { range.__buf_pos; }; // by the name in the library
  const auto count = static_cast<std::size_t>(n);
  const algorithms::blocks all = of_sets ? algorithms::blocks{count, 1, 1} : blocks_of(count);
  const auto begin = [&](std::size_t block) { return static_cast<Index>(all.begin(block)); };
  const auto length = [&](std::size_t block) {
    return static_cast<Index>(all.end(block) - all.begin(block));
  };
  const std::unique_ptr<T[]> sums{new T[all.number]};
  run_blocks(all, [&](std::size_t block) { sums[block] = sum(begin(block), length(block)); });
  T prefix = init;
  for (std::size_t i = 0; i < all.number; ++i) { // each sum becomes what stands before its block
    T next = combine(prefix, sums[i]);
    sums[i] = std::move(prefix);
    prefix = std::move(next);
  }
  total(prefix);
  run_blocks(all, [&](std::size_t block) {
    static_cast<void>(scan(begin(block), length(block), sums[block]));
  });
}

// What goes over blocks, reached without its type (apart.h).
template <class T> class scan_ref {
public:
  using value = T;
  static constexpr bool in_order = false;

  template <class Scan>
  explicit scan_ref(const Scan& scan) noexcept
      : scan_{&scan}, pass_{[](const void* at, std::optional<T>& before, std::size_t block) {
          of<Scan>(at).pass(before, block);
        }},
        sum_{[](const void* at, std::size_t block) { return of<Scan>(at).sum(block); }},
        add_{[](const void* at, std::optional<T>& low, T& high) { of<Scan>(at).add(low, high); }} {}

  void pass(std::optional<T>& before, std::size_t block) const { pass_(scan_, before, block); }
  T sum(std::size_t block) const { return sum_(scan_, block); }
  void finish(std::optional<T> before, std::size_t block) const { pass_(scan_, before, block); }
  void add(std::optional<T>& low, T&& high) const { add_(scan_, low, high); }

private:
  template <class Scan> static const Scan& of(const void* at) noexcept {
    return *static_cast<const Scan*>(at);
  }
  const void* scan_;
  void (*pass_)(const void*, std::optional<T>&, std::size_t);
  T (*sum_)(const void*, std::size_t);
  void (*add_)(const void*, std::optional<T>&, T&);
};

template <class Index, class T, class Map, class Combine, class Sum, class Scan> struct block_scan {
  const algorithms::blocks& all;
  const Map& map;
  const Combine& combine;
  const Sum& sum_of;
  const Scan& scan;

  Index begin(std::size_t block) const { return static_cast<Index>(all.begin(block)); }
  Index end(std::size_t block) const { return static_cast<Index>(all.end(block)); }

  void pass(std::optional<T>& before, std::size_t block) const {
    before.emplace(scan(begin(block), end(block), *std::move(before)));
  }
  T sum(std::size_t block) const {
    Map own = map; // it may be a function that changes itself
    T first = own(begin(block));
    if (begin(block) + 1 == end(block))
      return first;
    return sum_of(begin(block) + 1, end(block), std::move(first));
  }
  void add(std::optional<T>& low, T& high) const {
    Combine own = combine;
    low.emplace(own(*std::move(low), std::move(high)));
  }
};

// scan(i, j, prefix) of blocks, which returns the sum of the prefix and the block; returns that of
// init and all. sum(i, j, s) adds the elements of [i, j) to s without scanning them.
template <class Index, class T, class Map, class Combine, class Sum, class Scan>
T transform_scan(Index n, const Map& map, T init, const Combine& combine, const Sum& sum,
                 const Scan& scan) {
  if (n <= 0)
    return init;
  const algorithms::blocks all = blocks_of(static_cast<std::size_t>(n));
  using process = block_scan<Index, T, Map, Combine, Sum, Scan>;
  const process blocks{all, map, combine, sum, scan};
  return *algorithms::over_blocks(scan_ref<T>{blocks}, all, std::optional<T>{std::move(init)},
                                  algorithms::past_cost_of<process>, loop_apart{});
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END
