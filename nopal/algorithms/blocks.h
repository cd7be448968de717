// SPDX-License-Identifier: MIT
// Passes over blocks of a range, each of which begins with what all blocks before it have computed:
// scans, and what keeps some elements.
//
// A strand that knows what precedes its block does the work in one pass. A thief does not know, so
// it makes the sums of its blocks, and a second pass follows over these when the strand before it
// is done. So one worker reads each element once, and two passes are made of stolen blocks alone.
//
// The blocks depend on the number of elements alone, so the brackets of all sums do, too.
//
// A Process provides, for blocks by their number:
//   value                            the type of sums and of what precedes a block
//   pass(optional<value>&, block)    the only pass: adds the block to what precedes it (perhaps
//                                    nothing)
//   sum(block)                       the first of two passes
//   finish(optional<value>, block)   the second, with what precedes the block
//   add(optional<value>&, value&&)   appends the sum of a block
//   in_order                         whether `finish` must see the blocks one after the other
#pragma once

#include "nopal/algorithms/lazy.h"
#include "nopal/cancel.h"
#include "nopal/config.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

// About so many at most blocks, each of a multiple of so many elements but the last.
struct blocks {
  explicit blocks(std::size_t elements, std::size_t most = 512, std::size_t multiple = 64) noexcept
      : count(elements),
        length(std::max((elements / most + multiple - 1) / multiple, std::size_t{1}) * multiple),
        number(elements / length + (elements % length != 0 ? 1 : 0)) {}

  std::size_t begin(std::size_t block) const noexcept { return block * length; }
  std::size_t end(std::size_t block) const noexcept {
    return std::min(begin(block) + length, count);
  }

  std::size_t count;
  std::size_t length;
  std::size_t number;
};

// body(block) for each of them, in any order and possibly at the same time.
template <class Body>
void for_blocks(const blocks& all, const Body& body, past_cost& past = past_cost_of<Body>) {
  const auto some = [&body](std::size_t from, std::size_t count) {
    for (std::size_t block = from; block < from + count; ++block)
      body(block);
  };
  for_long_pieces(all.number, some, all.length, past);
}

// The same, of what moves elements: also where the strand is cancelled, so that none is left
// between two places. Few are moved here and now.
inline constexpr std::size_t few_serially = 1024;
template <class Body> void move_blocks(const blocks& all, const Body& body) {
  if (all.count <= few_serially)
    for (std::size_t block = 0; block < all.number; ++block)
      body(block);
  else
    nopal::shielded([&all, &body] { for_blocks(all, body); });
}
// body(from, length) for all elements.
template <class Body> void for_elements(std::size_t count, const Body& body) {
  if (count <= few_serially)
    body(0, count);
  else
    nopal::shielded([count, &body] { for_long_pieces(count, body); });
}

template <class Process> class prefixes {
public:
  using value = typename Process::value;
  // Consecutive blocks. `known`: all passes over them are done, and `sum` is what precedes the
  // next block. Else their sums are made, [first, last) are their numbers, and `sum` is empty.
  struct part {
    bool known = false;
    std::optional<value> sum{};
    std::size_t first = 0;
    std::size_t last = 0;
  };

  prefixes(const Process& process, const blocks& over)
      : process_(process), length_(over.length),
        sums_(std::make_unique<std::optional<value>[]>(over.number)) {}

  part begin() const { return {}; }

  void extend(part& to, std::size_t from, std::size_t count) const {
    if (!to.known && to.first == to.last)
      to.first = to.last = from;
    for (std::size_t block = from; block < from + count; ++block) {
      if (to.known)
        process_.pass(to.sum, block);
      else
        sums_[block].emplace(process_.sum(block));
    }
    to.last = from + count;
  }

  // The high blocks' sums become what precedes each of them.
  void unite(part& low, part&& high) const {
    if (!low.known) {
      low.last = high.last;
      return;
    }
    for (std::size_t block = high.first; block < high.last; ++block) {
      value sum = *std::move(sums_[block]);
      sums_[block] = low.sum;
      process_.add(low.sum, std::move(sum));
    }
    const auto finish = [this, &high](std::size_t from, std::size_t count) {
      for (std::size_t block = high.first + from; block < high.first + from + count; ++block)
        process_.finish(std::move(sums_[block]), block);
    };
    if constexpr (Process::in_order)
      finish(0, high.last - high.first);
    else
      for_long_pieces(high.last - high.first, finish, length_);
  }

private:
  const Process& process_;
  const std::size_t length_;
  std::unique_ptr<std::optional<value>[]> sums_;
};

// Does all the work, and returns what precedes the end; `before` precedes the first block.
template <class Process, class Apart = in_place>
std::optional<typename Process::value>
over_blocks(const Process& process, const blocks& over,
            std::optional<typename Process::value> before,
            past_cost& past = past_cost_of<prefixes<Process>>, const Apart& apart = {}) {
  const prefixes<Process> all{process, over};
  typename prefixes<Process>::part whole{true, std::move(before), 0, 0};
  fold_lazily(over.number, all, whole, over.length, past, apart);
  return std::move(whole.sum);
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
