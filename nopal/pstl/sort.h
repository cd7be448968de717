// SPDX-License-Identifier: MIT
// A merge sort with a buffer for the standard's sort, stable_sort and partial sorts.
//
// Pieces are sorted by the algorithm's own serial sort, which may also bring the elements there: it
// is called once for each piece, before anything reads the piece. Halves are sorted alternately
// into the range and into the buffer, so each level of merges moves an element once. Where only the
// first m elements are wanted, each half has its first m in order, and merges concern those alone.
//
// Invariant: the buffer has objects at [low, high) exactly between the end of a sort of these
//            elements into the buffer and the merge that takes them from there.
// Where a comparison or a move throws, the program ends (std::terminate); of std::bad_alloc alone
// the algorithm's caller learns, and then objects in the buffer are not destroyed.
#pragma once

#include "nopal/config.h"
#include "nopal/pstl/apart.h"
#include "nopal/pstl/buffer.h"
#include "nopal/pstl/loops.h"
#include "nopal/pstl/merge.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

// Merges by put(place, element), which moves one element.
template <class From, class To, class Compare, class Put>
void merge_serially(sorted_run<From> x, sorted_run<From> y, To out, const Compare& compare,
                    const Put& put) {
  Compare before = compare; // it may be a function that changes itself
  while (x.first != x.last && y.first != y.last) {
    const bool second = before(*y.first, *x.first);
    const From from = second ? y.first : x.first; // without a branch where iterators are pointers
    y.first += second;
    x.first += !second;
    put(out, *from);
    ++out;
  }
  for (; x.first != x.last; ++x.first, ++out)
    put(out, *x.first);
  for (; y.first != y.last; ++y.first, ++out)
    put(out, *y.first);
}

template <class It, class Compare, class LeafSort> class merge_sort {
public:
  // The first `wanted` of all n elements, or all.
  merge_sort(It first, std::size_t n, std::size_t wanted, const Compare& before,
             const LeafSort& sort_leaf, std::size_t leaf_max)
      : first_{first}, buffer_(n), before_{before}, sort_leaf_{sort_leaf}, wanted_{wanted},
        leaf_max_{leaf_max}, merge_max_{std::max(leaf_max, merge_piece_min)} {}

  void sort_all(std::size_t n) { sort(0, n, false); }
  void sort_first(std::size_t n) { sort_heads(0, n); }

private:
  using value = typename std::iterator_traits<It>::value_type;

  static void construct(value* place, value& from) {
    ::new (static_cast<void*>(place)) value(std::move(from));
  }
  template <class Place> static void take(Place place, value& from) {
    *place = std::move(from);
    std::destroy_at(std::addressof(from));
  }

  It in_range(std::size_t i) const { return at(first_, i); }
  value* in_buffer(std::size_t i) const { return buffer_.get() + i; }

  template <class From, class To, class Put>
  void merge_runs(sorted_run<From> x, sorted_run<From> y, To out, const Put& put) const {
    const auto leaf = [&](sorted_run<From> a, sorted_run<From> b, To to) {
      merge_serially(a, b, to, before_, put);
    };
    split_merge(x, y, out, before_, leaf, merge_max_);
  }
  // Two runs of the range, to the buffer.
  void merge_to_buffer(std::size_t x, std::size_t x_end, std::size_t y, std::size_t y_end) const {
    merge_runs(sorted_run<It>{in_range(x), in_range(x_end)},
               sorted_run<It>{in_range(y), in_range(y_end)}, in_buffer(x), construct_);
  }
  // Two runs of the buffer, that lie side by side.
  void merge_to_range(std::size_t x, std::size_t middle, std::size_t y_end) const {
    merge_runs(sorted_run<value*>{in_buffer(x), in_buffer(middle)},
               sorted_run<value*>{in_buffer(middle), in_buffer(y_end)}, in_range(x), take_);
  }

  void sort(std::size_t low, std::size_t high, bool to_buffer) const {
    if (high - low <= leaf_max_) {
      sort_leaf_(in_range(low), in_range(high), before_);
      if (to_buffer)
        for (std::size_t i = low; i < high; ++i)
          construct(in_buffer(i), *in_range(i));
      return;
    }
    const std::size_t middle = low + (high - low) / 2;
    invoke_both([=, this] { sort(low, middle, !to_buffer); },
                [=, this] { sort(middle, high, !to_buffer); });
    if (to_buffer)
      merge_to_buffer(low, middle, middle, high);
    else
      merge_to_range(low, middle, high);
  }

  // Afterwards the first `wanted_` of [low, high) stand there in order, or all, if these are fewer.
  void sort_heads(std::size_t low, std::size_t high) const {
    if (high - low <= leaf_max_) {
      sort_leaf_(in_range(low), in_range(high), before_);
      return;
    }
    const std::size_t middle = low + (high - low) / 2;
    invoke_both([=, this] { sort_heads(low, middle); }, [=, this] { sort_heads(middle, high); });
    const std::size_t left = std::min(wanted_, middle - low);
    const std::size_t right = std::min(wanted_, high - middle);
    merge_to_buffer(low, low + left, middle, middle + right);
    const auto move_back = [&](std::size_t i) {
      take(in_range(i < left ? low + i : middle + (i - left)), *in_buffer(low + i));
    };
    const std::size_t count = left + right;
    if (count <= merge_max_)
      for (std::size_t i = 0; i < count; ++i)
        move_back(i);
    else
      nopal::for_index(std::size_t{0}, count, move_back);
  }

  static constexpr auto construct_ = [](value* place, value& from) { construct(place, from); };
  static constexpr auto take_ = [](It place, value& from) { take(place, from); };

  const It first_;
  const buffer<value> buffer_;
  const Compare& before_;
  const LeafSort& sort_leaf_;
  const std::size_t wanted_;
  const std::size_t leaf_max_;
  const std::size_t merge_max_;
};

// Sorts all elements where `wanted` is 0 or their number.
template <class It, class Compare, class LeafSort>
void sort(It first, It last, const Compare& before, const LeafSort& sort_leaf, std::size_t wanted) {
  constexpr std::size_t leaf_min = 500;
  const std::size_t n = length_of(first, last);
  const std::size_t leaf_max = n <= leaf_min ? n : longest_piece(n, leaf_min);
  if (n <= leaf_max) {
    sort_leaf(first, last, before);
    return;
  }
  merge_sort<It, Compare, LeafSort> sorter{first, n, wanted, before, sort_leaf, leaf_max};
  apart([&] {
    if (wanted == 0 || wanted == n)
      sorter.sort_all(n);
    else
      sorter.sort_first(n);
  });
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END
