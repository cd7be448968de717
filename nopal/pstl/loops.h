// SPDX-License-Identifier: MIT
// Loops and reductions of the standard's algorithms, by the loops of loop.h. A range has two ends,
// iterators or integers, and a body is called with the ends of each piece.
//
// The pieces are those of loop.h; a reduction runs as a lazy loop (algorithms/lazy.h), so where it
// has which brackets depends on what is stolen. The standard allows that.
#pragma once

#include "nopal/algorithms/lazy.h"
#include "nopal/config.h"
#include "nopal/for_range.h"
#include "nopal/loop.h"
#include "nopal/pstl/apart.h"
#include "nopal/runtime.h"

#include <cstddef>
#include <optional>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

template <class Index> std::size_t length_of(Index first, Index last) {
  return detail::count_of(last - first);
}
template <class Index> Index at(Index first, std::size_t offset) {
  return static_cast<Index>(first + static_cast<decltype(first - first)>(offset));
}

inline unsigned workers() { return nopal::num_workers(); }

using algorithms::piece_ref;

// Each piece has at most `grain` iterations.
inline void run_pieces(std::size_t count, std::size_t grain, piece_ref body) {
  detail::by_pieces(std::size_t{0}, count, grain, body);
}
// As algorithms/lazy.h has it.
inline void run_lazily(std::size_t count, piece_ref body, std::size_t length,
                       algorithms::past_cost& past) {
  const auto piece = [body](std::size_t from, std::size_t n) { body(from, from + n); };
  algorithms::for_pieces(count, piece, length, past, loop_apart{});
}

// body(i, j) for pieces [i, j) of the range, none of them empty.
template <class Index, class Body> void for_pieces(Index first, Index last, const Body& body) {
  const std::size_t count = length_of(first, last);
  if (count <= 1) {
    if (count == 1)
      body(first, last);
    return;
  }
  const auto piece = [&](std::size_t i, std::size_t j) { body(at(first, i), at(first, j)); };
  run_lazily(count, piece_ref{piece}, 1, algorithms::past_cost_of<Body>);
}

// What reductions fold (algorithms/lazy.h). `Work` is reached without its type (apart.h).
template <class Part> class folded {
public:
  using part = Part;

  template <class Work>
  explicit folded(const Work& work) noexcept
      : work_{&work}, begin_{[](const void* at) { return of<Work>(at).begin(); }},
        extend_{[](const void* at, part& sum, std::size_t from, std::size_t count) {
          of<Work>(at).extend(sum, from, count);
        }},
        unite_{[](const void* at, part& low, part& high) { of<Work>(at).unite(low, high); }} {}

  part begin() const { return begin_(work_); }
  void extend(part& sum, std::size_t from, std::size_t count) const {
    extend_(work_, sum, from, count);
  }
  void unite(part& low, part&& high) const { unite_(work_, low, high); }
  std::size_t least_piece(const part& sum) const noexcept
    requires requires { sum.held; }
  {
    return sum.held / 4;
  }

private:
  template <class Work> static const Work& of(const void* at) noexcept {
    return *static_cast<const Work*>(at);
  }
  const void* work_;
  part (*begin_)(const void*);
  void (*extend_)(const void*, part&, std::size_t, std::size_t);
  void (*unite_)(const void*, part&, part&);
};

template <class Work, class Part> void fold_apart(std::size_t count, const Work& work, Part& sum) {
  algorithms::fold_lazily(count, folded<Part>{work}, sum, 1, algorithms::past_cost_of<Work>,
                          loop_apart{});
}

// body(i, j, before) continues a value; combine(low, high) joins two, the second of which began
// with the identity. So a search hands on that it has found something, and the rest is short.
// To continue may be as dear as all that came before (a stable partition rotates it), so pieces are
// no shorter than a part of that.
template <class T> struct continued_value {
  T value;
  std::size_t held = 0; // elements
};
template <class T, class Index, class Body, class Combine> struct continued {
  const Index first;
  const T& identity;
  const Body& body;
  const Combine& combine;

  continued_value<T> begin() const { return {identity}; }
  void extend(continued_value<T>& sum, std::size_t from, std::size_t count) const {
    sum.value = body(at(first, from), at(first, from + count), std::move(sum.value));
    sum.held += count;
  }
  void unite(continued_value<T>& low, const continued_value<T>& high) const {
    low.value = combine(low.value, high.value);
    low.held += high.held;
  }
};

template <class T, class Index, class Body, class Combine>
T reduce(Index first, Index last, const T& identity, const Body& body, const Combine& combine) {
  const std::size_t count = length_of(first, last);
  if (count == 0)
    return identity;
  if (count == 1)
    return body(first, last, identity);
  const continued<T, Index, Body, Combine> work{first, identity, body, combine};
  continued_value<T> sum = work.begin();
  fold_apart(count, work, sum);
  return std::move(sum.value);
}

// The sum of a part. Where there is no identity, it begins with two elements, so of a part that has
// but one only the place is known.
template <class T> struct begun_sum {
  std::optional<T> value;
  std::optional<std::size_t> alone;
};

// The sum of init and all map(i), where there is no identity. body(i, j, sum) adds those of [i, j)
// to a sum. What map gives need not be a T, but combine gives one for any two.
template <class T, class Index, class Map, class Combine, class Body> struct mapped_sum {
  const Index first;
  const Map& map;
  const Combine& combine;
  const Body& body;

  begun_sum<T> begin() const { return {}; }
  void extend(begun_sum<T>& sum, std::size_t from, std::size_t count) const {
    if (!sum.value) {
      if (!sum.alone) {
        sum.alone = from++;
        if (--count == 0)
          return;
      }
      add_to_alone(sum, [&](Map& own) -> decltype(auto) { return own(at(first, from)); });
      ++from;
      --count;
    }
    if (count != 0)
      sum.value.emplace(body(at(first, from), at(first, from + count), *std::move(sum.value)));
  }
  void unite(begun_sum<T>& low, begun_sum<T>& high) const {
    if (high.alone) {
      extend(low, *high.alone, 1);
    } else if (low.value) {
      Combine own_combine = combine;
      low.value.emplace(own_combine(*std::move(low.value), *std::move(high.value)));
    } else {
      add_to_alone(low, [&](Map&) -> T&& { return *std::move(high.value); });
    }
  }

private:
  template <class Next> void add_to_alone(begun_sum<T>& sum, const Next& next) const {
    Map own_map = map; // they may be functions that change themselves
    Combine own_combine = combine;
    auto&& one = own_map(at(first, *sum.alone));
    sum.value.emplace(own_combine(std::forward<decltype(one)>(one), next(own_map)));
    sum.alone.reset();
  }
};

template <class T, class Index, class Map, class Combine, class Body>
T transform_reduce(Index first, Index last, const Map& map, T init, const Combine& combine,
                   const Body& body) {
  const std::size_t count = length_of(first, last);
  if (count <= 1)
    return body(first, last, std::move(init));
  const mapped_sum<T, Index, Map, Combine, Body> work{first, map, combine, body};
  begun_sum<T> sum{std::move(init), {}};
  fold_apart(count, work, sum);
  return *std::move(sum.value);
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END
