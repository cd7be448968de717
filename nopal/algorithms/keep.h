// SPDX-License-Identifier: MIT
// What keeps some elements of a range and their order (blocks.h): copy_if, unique_copy, and in
// place remove_if and unique.
//
// Whether an element is kept is asked once. For blocks that take two passes the first one notes the
// answers, a bit for each element.
#pragma once

#include "nopal/algorithms/blocks.h"
#include "nopal/algorithms/elements.h"
#include "nopal/config.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

// One bit for each element of the blocks. Blocks begin at words, so strands share none.
class answers {
public:
  explicit answers(const blocks& all)
      : words_(std::make_unique_for_overwrite<std::uint64_t[]>(all.count / 64 + 1)) {}

  // Asks for each of [from, to), in order, and returns how many were kept.
  template <class Asks> std::size_t note(std::size_t from, std::size_t to, Asks asks) {
    std::size_t kept = 0;
    for (std::size_t i = from; i < to; i += 64) {
      std::uint64_t word = 0;
      const std::size_t bits = std::min(to - i, std::size_t{64});
      for (std::size_t bit = 0; bit < bits; ++bit)
        word |= std::uint64_t{asks(i + bit)} << bit;
      words_[i / 64] = word;
      kept += static_cast<std::size_t>(std::popcount(word));
    }
    return kept;
  }

  bool operator[](std::size_t i) const noexcept { return (words_[i / 64] >> i % 64 & 1) != 0; }

  // Calls use(i) for each of [from, to) that was kept, in order. `from` begins a block.
  template <class Use> void for_each(std::size_t from, std::size_t to, Use use) const {
    for (std::size_t i = from; i < to; i += 64)
      for (std::uint64_t word = words_[i / 64]; word != 0; word &= word - 1)
        use(i + static_cast<std::size_t>(std::countr_zero(word)));
  }

private:
  std::unique_ptr<std::uint64_t[]> words_;
};

// Copies what is kept. keeps(i) reads elements that nobody writes.
template <class In, class Out, class Keeps> struct copy_kept {
  using value = std::size_t; // how many were kept
  static constexpr bool in_order = false;

  In in;
  Out out;
  const Keeps& keeps;
  blocks all;
  answers& kept;

  std::size_t sum(std::size_t block) const {
    return kept.note(all.begin(block), all.end(block), keeps);
  }
  void add(std::optional<std::size_t>& before, std::size_t&& more) const { *before += more; }

  void pass(std::optional<std::size_t>& before, std::size_t block) const {
    Out to = at(out, *before);
    const Out begin = to;
    for (std::size_t i = all.begin(block); i < all.end(block); ++i)
      if (keeps(i)) {
        *to = *at(in, i);
        ++to;
      }
    *before += static_cast<std::size_t>(to - begin);
  }
  void finish(std::optional<std::size_t>&& before, std::size_t block) const {
    Out to = at(out, *before);
    kept.for_each(all.begin(block), all.end(block), [&](std::size_t i) {
      *to = *at(in, i);
      ++to;
    });
  }
};

// Moves what is kept to the front. A block's elements change places with others that are done, so
// the second passes follow one another, and no element is lost where the loop ends early.
// keeps(i, last) may read the element i, and `last`, the last one kept before it.
// keeps.first(block) says it of the first element of a block, whose neighbour may have moved.
template <class It, class Keeps> struct move_kept {
  using value = std::size_t;
  static constexpr bool in_order = true;

  It first;
  const Keeps& keeps;
  blocks all;
  answers& kept;

  std::size_t sum(std::size_t block) const {
    const std::size_t begin = all.begin(block);
    return kept.note(begin, all.end(block), [&](std::size_t i) {
      return i == begin ? keeps.first(block) : keeps(i, at(first, i - 1));
    });
  }
  void add(std::optional<std::size_t>& before, std::size_t&& more) const { *before += more; }

  void pass(std::optional<std::size_t>& before, std::size_t block) const {
    std::size_t to = *before;
    for (std::size_t i = all.begin(block); i < all.end(block); ++i)
      if (i == all.begin(block) ? keeps.first(block) : keeps(i, at(first, to - 1)))
        move(i, to++);
    *before = to;
  }
  void finish(std::optional<std::size_t>&& before, std::size_t block) const {
    std::size_t to = *before;
    kept.for_each(all.begin(block), all.end(block), [&](std::size_t i) { move(i, to++); });
  }

private:
  void move(std::size_t from, std::size_t to) const {
    if (from != to)
      std::ranges::iter_swap(at(first, to), at(first, from));
  }
};

// How many elements are kept, and so where the end of the output is.
template <class In, class Out, class Keeps>
std::size_t copy_those(In in, std::size_t count, Out out, const Keeps& keeps) {
  const blocks all{count};
  answers kept{all};
  const copy_kept<In, Out, Keeps> process{in, out, keeps, all, kept};
  return *over_blocks(process, all, std::optional<std::size_t>{0});
}
template <class It, class Keeps>
std::size_t move_those(It first, std::size_t count, const Keeps& keeps) {
  const blocks all{count};
  answers kept{all};
  const move_kept<It, Keeps> process{first, keeps, all, kept};
  return *over_blocks(process, all, std::optional<std::size_t>{0});
}

// What remove_if keeps.
template <class It, class Pred> struct keeps_others {
  It in;
  blocks all;
  const Pred& removed;

  bool first(std::size_t block) const { return !removed(*at(in, all.begin(block))); }
  bool operator()(std::size_t i, const It&) const { return !removed(*at(in, i)); }
};

template <class It, class Pred>
keeps_others<It, Pred> keep_others(It in, const blocks& all, const Pred& removed) {
  return {in, all, removed};
}

// What unique keeps: the first element of each group. The first ones of blocks are asked for before
// anything moves.
template <class It, class Same> class keeps_first {
public:
  keeps_first(It in, const blocks& all, const Same& same)
      : in_(in), same_(same), edges_(std::make_unique<bool[]>(all.number)) {
    for (std::size_t block = 0; block < all.number; ++block) {
      const std::size_t i = all.begin(block);
      edges_[block] = i == 0 || !same(*at(in, i - 1), *at(in, i));
    }
  }

  bool first(std::size_t block) const { return edges_[block]; }
  bool operator()(std::size_t i, const It& last) const { return !same_(*last, *at(in_, i)); }

private:
  It in_;
  const Same& same_;
  std::unique_ptr<bool[]> edges_;
};

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
