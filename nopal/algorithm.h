// SPDX-License-Identifier: MIT
// Algorithms on elements: transform, fill, generate, counts, extremes, questions.
//
//     nopal::transform(items, out.begin(), price);
//     nopal::transform(a, b, out.begin(), std::plus<>{});
//     double sum = nopal::transform_reduce(items, 0.0, std::plus<>{}, &item::weight);
//     auto number = nopal::count_if(items, fits);
//     auto [low, high] = nopal::min_max(items, {}, &item::weight);
//
// They have the parameters of their counterparts in std::ranges, on ranges and iterators with
// random access. What is written is an object in memory (no std::vector<bool>). Functions and
// projections are called as const, by several strands at a time. Nobody chooses a grain: loops
// split where a thread has nothing to do (algorithms/lazy.h). sort.h, scan.h and filter.h have
// others.
//
// Work O(n), span O(log n) and a piece of the loop, no memory. Exceptions: of several the serially
// first is thrown; some of the output may be written then, and where the strand is cancelled.
#pragma once

#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/extremes.h"
#include "nopal/algorithms/lazy.h"
#include "nopal/config.h"
#include "nopal/find.h"
#include "nopal/indices.h"
#include "nopal/loop.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// *out = f(proj(element)) for every element, where `out` may be `first`. Returns the end of the
/// output.
/// @throws what `f`, the projection or an assignment throws.
/// @par Threads
/// Any thread, any strand.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Out, class F,
          class Proj = std::identity>
  requires algorithms::written<Out> &&
           std::indirectly_writable<
               Out, std::indirect_result_t<const F&, std::projected<It, const Proj&>>>
Out transform(It first, End last, Out out, const F& f, const Proj& proj = {}) {
  const std::size_t count = algorithms::count_between(first, last);
  const auto from = algorithms::plain(first);
  const auto to = algorithms::plain(out);
  algorithms::for_pieces(count, [=, f = algorithms::hold(f), proj = algorithms::hold(proj)](
                                    std::size_t begin, std::size_t length) {
    const auto in = algorithms::at(from, begin);
    std::ranges::transform(in, algorithms::at(in, length), algorithms::at(to, begin), f, proj);
  });
  return algorithms::at(out, count);
}
template <parallel_range Range, class Out, class F, class Proj = std::identity>
  requires requires(std::ranges::iterator_t<Range> it, Out out, const F& f, const Proj& proj) {
    nopal::transform(it, it, out, f, proj);
  }
Out transform(Range&& range, Out out, const F& f, const Proj& proj = {}) {
  const auto first = std::ranges::begin(range);
  return nopal::transform(first, first + std::ranges::distance(range), out, f, proj);
}

/// *out = f(x, y) for the elements of two ranges, as many as the shorter one has.
template <parallel_range Range1, parallel_range Range2, class Out, class F>
  requires algorithms::written<Out> &&
           std::invocable<const F&, std::ranges::range_reference_t<Range1>,
                          std::ranges::range_reference_t<Range2>> &&
           std::indirectly_writable<
               Out, std::invoke_result_t<const F&, std::ranges::range_reference_t<Range1>,
                                         std::ranges::range_reference_t<Range2>>>
Out transform(Range1&& range1, Range2&& range2, Out out, const F& f) {
  const auto first1 = algorithms::plain(std::ranges::begin(range1));
  const auto first2 = algorithms::plain(std::ranges::begin(range2));
  const std::size_t count = std::min(detail::count_of(std::ranges::distance(range1)),
                                     detail::count_of(std::ranges::distance(range2)));
  const auto to = algorithms::plain(out);
  algorithms::for_pieces(
      count, [=, f = algorithms::hold(f)](std::size_t begin, std::size_t length) {
        for (std::size_t i = begin; i < begin + length; ++i)
          *algorithms::at(to, i) =
              std::invoke(f, *algorithms::at(first1, i), *algorithms::at(first2, i));
      });
  return algorithms::at(out, count);
}

/// Assigns the value to every element.
template <parallel_range Range, class T>
  requires algorithms::written<std::ranges::iterator_t<Range>> &&
           std::indirectly_writable<std::ranges::iterator_t<Range>, const T&>
void fill(Range&& range, const T& value) {
  const auto first = algorithms::plain(std::ranges::begin(range));
  algorithms::for_pieces(
      detail::count_of(std::ranges::distance(range)),
      [first, value = algorithms::hold(value)](std::size_t from, std::size_t count) {
        const T& each = value;
        std::fill_n(algorithms::at(first, from), count, each);
      });
}

/// element = f() for every element, in any order.
template <parallel_range Range, class F>
  requires algorithms::written<std::ranges::iterator_t<Range>> && std::invocable<const F&> &&
           std::indirectly_writable<std::ranges::iterator_t<Range>, std::invoke_result_t<const F&>>
void generate(Range&& range, const F& f) {
  const auto first = algorithms::plain(std::ranges::begin(range));
  algorithms::for_pieces(detail::count_of(std::ranges::distance(range)),
                         [first, f = algorithms::hold(f)](std::size_t from, std::size_t count) {
                           for (std::size_t i = from; i < from + count; ++i)
                             *algorithms::at(first, i) = f();
                         });
}

/// Copies every element to `out`, which does not overlap the range. Returns the output's end.
template <parallel_range Range, class Out>
  requires algorithms::written<Out> && std::indirectly_copyable<std::ranges::iterator_t<Range>, Out>
Out copy(Range&& range, Out out) {
  const auto first = algorithms::plain(std::ranges::begin(range));
  const auto to = algorithms::plain(out);
  const std::size_t count = detail::count_of(std::ranges::distance(range));
  algorithms::for_pieces(count, [=](std::size_t from, std::size_t length) {
    std::ranges::copy_n(algorithms::at(first, from),
                        static_cast<std::iter_difference_t<decltype(first)>>(length),
                        algorithms::at(to, from));
  });
  return algorithms::at(out, count);
}

/// f(element) for the first `count` elements. Returns the first behind them.
template <std::random_access_iterator It, class F>
  requires std::invocable<const F&, std::iter_reference_t<It>>
It for_each_n(It first, std::iter_difference_t<It> count, const F& f) {
  const It last = first + std::max(count, std::iter_difference_t<It>{0});
  nopal::for_each(first, last, f);
  return last;
}

/// combine(... combine(init, map(first element)) ...), in this order but bracketed by pieces that
/// depend on the number of elements alone (loop.h): the bits of a floating-point sum are the same
/// with any number of workers.
template <parallel_range Range, class T, class Combine = std::plus<>, class Map = std::identity>
  requires std::invocable<const Map&, std::ranges::range_reference_t<Range>>
T transform_reduce(Range&& range, T init, const Combine& combine = {}, const Map& map = {}) {
  const auto first = algorithms::plain(std::ranges::begin(range));
  return nopal::reduce(std::size_t{0}, detail::count_of(std::ranges::distance(range)),
                       std::move(init), combine, [first, &map](std::size_t i) -> decltype(auto) {
                         return std::invoke(map, *algorithms::at(first, i));
                       });
}

/// How many elements `pred` is true for.
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<
      const Pred&, std::projected<std::ranges::iterator_t<Range>, const Proj&>>
std::ranges::range_difference_t<Range> count_if(Range&& range, const Pred& pred,
                                                const Proj& proj = {}) {
  const auto counts = algorithms::on(pred, proj);
  return static_cast<std::ranges::range_difference_t<Range>>(
      algorithms::count_those(algorithms::plain(std::ranges::begin(range)),
                              detail::count_of(std::ranges::distance(range)), counts));
}

/// How many elements are equal to the value.
template <parallel_range Range, class T, class Proj = std::identity>
  requires std::indirect_binary_predicate<
      std::ranges::equal_to, std::projected<std::ranges::iterator_t<Range>, const Proj&>, const T*>
std::ranges::range_difference_t<Range> count(Range&& range, const T& value, const Proj& proj = {}) {
  return nopal::count_if(
      range, [&value](auto&& x) -> bool { return std::forward<decltype(x)>(x) == value; }, proj);
}

/// Whether `pred` is true for an element, for all, for none. Behind the first one that decides,
/// elements are asked about no more, or in vain (find.h).
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<
      const Pred&, std::projected<std::ranges::iterator_t<Range>, const Proj&>>
bool any_of(Range&& range, const Pred& pred, const Proj& proj = {}) {
  const auto first = std::ranges::begin(range);
  const auto last = first + std::ranges::distance(range);
  return nopal::find_if(first, last, algorithms::on(pred, proj)) != last;
}
/// See any_of.
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<
      const Pred&, std::projected<std::ranges::iterator_t<Range>, const Proj&>>
bool all_of(Range&& range, const Pred& pred, const Proj& proj = {}) {
  const auto wanted = algorithms::on(pred, proj);
  return !nopal::any_of(range,
                        [&wanted](auto&& x) { return !wanted(std::forward<decltype(x)>(x)); });
}
/// See any_of.
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires std::indirect_unary_predicate<
      const Pred&, std::projected<std::ranges::iterator_t<Range>, const Proj&>>
bool none_of(Range&& range, const Pred& pred, const Proj& proj = {}) {
  return !nopal::any_of(range, pred, proj);
}

/// Whether both ranges have equally many elements, all of them alike.
template <parallel_range Range1, parallel_range Range2, class Same = std::ranges::equal_to>
  requires std::predicate<const Same&, std::ranges::range_reference_t<Range1>,
                          std::ranges::range_reference_t<Range2>>
bool equal(Range1&& range1, Range2&& range2, const Same& same = {}) {
  const std::size_t count = detail::count_of(std::ranges::distance(range1));
  if (count != detail::count_of(std::ranges::distance(range2)))
    return false;
  const auto first1 = algorithms::plain(std::ranges::begin(range1));
  const auto first2 = algorithms::plain(std::ranges::begin(range2));
  return nopal::for_index_while(std::size_t{0}, count, [&](std::size_t i) -> bool {
           return std::invoke(same, *algorithms::at(first1, i), *algorithms::at(first2, i));
         }) == count;
}

/// The first of the smallest elements; the end, if there is none.
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires std::indirect_strict_weak_order<
      const Comp&, std::projected<std::ranges::iterator_t<Range>, const Proj&>>
std::ranges::borrowed_iterator_t<Range> min_element(Range&& range, const Comp& comp = {},
                                                    const Proj& proj = {}) {
  const auto less = algorithms::by(comp, proj);
  return algorithms::choose(std::ranges::begin(range),
                            detail::count_of(std::ranges::distance(range)),
                            [&less](auto&& x, auto&& y) { return less(y, x); });
}
/// The first of the largest elements; the end, if there is none.
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires std::indirect_strict_weak_order<
      const Comp&, std::projected<std::ranges::iterator_t<Range>, const Proj&>>
std::ranges::borrowed_iterator_t<Range> max_element(Range&& range, const Comp& comp = {},
                                                    const Proj& proj = {}) {
  return algorithms::choose(std::ranges::begin(range),
                            detail::count_of(std::ranges::distance(range)),
                            algorithms::by(comp, proj));
}
/// A copy of the first of the smallest elements, of the first of the largest.
/// @pre The range is not empty.
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires std::indirect_strict_weak_order<
               const Comp&, std::projected<std::ranges::iterator_t<Range>, const Proj&>> &&
           std::indirectly_copyable_storable<std::ranges::iterator_t<Range>,
                                             std::ranges::range_value_t<Range>*>
std::ranges::range_value_t<Range> min(Range&& range, const Comp& comp = {}, const Proj& proj = {}) {
  return *nopal::min_element(range, comp, proj);
}
/// See min.
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires std::indirect_strict_weak_order<
               const Comp&, std::projected<std::ranges::iterator_t<Range>, const Proj&>> &&
           std::indirectly_copyable_storable<std::ranges::iterator_t<Range>,
                                             std::ranges::range_value_t<Range>*>
std::ranges::range_value_t<Range> max(Range&& range, const Comp& comp = {}, const Proj& proj = {}) {
  return *nopal::max_element(range, comp, proj);
}
/// Copies of the first of the smallest and the last of the largest elements: std::ranges::minmax.
/// @pre The range is not empty.
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires std::indirect_strict_weak_order<
               const Comp&, std::projected<std::ranges::iterator_t<Range>, const Proj&>> &&
           std::indirectly_copyable_storable<std::ranges::iterator_t<Range>,
                                             std::ranges::range_value_t<Range>*>
std::ranges::minmax_result<std::ranges::range_value_t<Range>>
min_max(Range&& range, const Comp& comp = {}, const Proj& proj = {}) {
  const auto [low, high] = algorithms::choose_both(std::ranges::begin(range),
                                                   detail::count_of(std::ranges::distance(range)),
                                                   algorithms::by(comp, proj));
  return {*low, *high};
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
