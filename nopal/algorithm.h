// SPDX-License-Identifier: MIT
// Algorithms on elements: transform, fill, generate, counts, extremes, questions.
//
//     nopal::transform(items, out.begin(), price);
//     nopal::transform(a, b, out.begin(), std::plus<>{});
//     double sum = nopal::transform_reduce(items, 0.0, std::plus<>{}, &item::weight);
//     auto number = nopal::count_if(items, fits);
//     auto [low, high] = nopal::min_max(items, {}, &item::weight);
//
// They have the parameters of their counterparts in std::ranges: a range, or an iterator and its
// end, of random access and a known size. Elements may be values. What is written is an object in
// memory (no std::vector<bool>). Functions and projections are called as const, by several strands
// at a time. Nobody chooses a grain: loops split where a thread has nothing to do
// (algorithms/lazy.h). sort.h, scan.h and filter.h have others.
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

/// A predicate of projected elements, as std::ranges asks for one.
template <class It, class Pred, class Proj>
concept parallel_predicate =
    std::random_access_iterator<It> &&
    std::indirect_unary_predicate<const Pred&, std::projected<It, const Proj&>>;
/// An order of projected elements, as std::ranges asks for one.
template <class It, class Comp, class Proj>
concept parallel_order =
    std::random_access_iterator<It> &&
    std::indirect_strict_weak_order<const Comp&, std::projected<It, const Proj&>>;

/// What f gives of projected elements, one of each range, is written to Out.
template <class Out, class F, class... Given>
concept parallel_transformed =
    algorithms::written<Out> && std::invocable<const F&, Given...> &&
    std::indirectly_writable<Out, std::invoke_result_t<const F&, Given...>>;

/// *out = f(proj(element)) for every element, where `out` may be `first`. Returns the end of the
/// output.
/// @throws what `f`, the projection or an assignment throws.
/// @par Threads
/// Any thread, any strand.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Out, class F,
          class Proj = std::identity>
  requires parallel_transformed<Out, F, algorithms::given_by<Proj, It>>
Out transform(It first, End last, Out out, const F& f, const Proj& proj = {}) {
  const std::size_t count = algorithms::count_between(first, last);
  const auto from = algorithms::plain(first);
  const auto to = algorithms::plain(out);
  algorithms::for_pieces(count, [=, f = algorithms::hold(f), proj = algorithms::hold(proj)](
                                    std::size_t begin, std::size_t length) {
    for (std::size_t i = begin; i < begin + length; ++i)
      *algorithms::at(to, i) = std::invoke(f, std::invoke(proj, *algorithms::at(from, i)));
  });
  return algorithms::at(out, count);
}
template <parallel_range Range, class Out, class F, class Proj = std::identity>
  requires parallel_transformed<Out, F, algorithms::given_by<Proj, std::ranges::iterator_t<Range>>>
Out transform(Range&& range, Out out, const F& f, const Proj& proj = {}) {
  return nopal::transform(std::ranges::begin(range), algorithms::end_of(range), out, f, proj);
}

/// *out = f(proj1(x), proj2(y)) for the elements of two ranges, as many as the shorter one has.
template <std::random_access_iterator It1, std::sized_sentinel_for<It1> End1,
          std::random_access_iterator It2, std::sized_sentinel_for<It2> End2, class Out, class F,
          class Proj1 = std::identity, class Proj2 = std::identity>
  requires parallel_transformed<Out, F, algorithms::given_by<Proj1, It1>,
                                algorithms::given_by<Proj2, It2>>
Out transform(It1 first1, End1 last1, It2 first2, End2 last2, Out out, const F& f,
              const Proj1& proj1 = {}, const Proj2& proj2 = {}) {
  const auto from1 = algorithms::plain(first1);
  const auto from2 = algorithms::plain(first2);
  const auto to = algorithms::plain(out);
  const std::size_t count =
      std::min(algorithms::count_between(first1, last1), algorithms::count_between(first2, last2));
  algorithms::for_pieces(
      count, [=, f = algorithms::hold(f), proj1 = algorithms::hold(proj1),
              proj2 = algorithms::hold(proj2)](std::size_t begin, std::size_t length) {
        for (std::size_t i = begin; i < begin + length; ++i)
          *algorithms::at(to, i) = std::invoke(f, std::invoke(proj1, *algorithms::at(from1, i)),
                                               std::invoke(proj2, *algorithms::at(from2, i)));
      });
  return algorithms::at(out, count);
}
template <parallel_range Range1, parallel_range Range2, class Out, class F,
          class Proj1 = std::identity, class Proj2 = std::identity>
  requires parallel_transformed<Out, F,
                                algorithms::given_by<Proj1, std::ranges::iterator_t<Range1>>,
                                algorithms::given_by<Proj2, std::ranges::iterator_t<Range2>>>
Out transform(Range1&& range1, Range2&& range2, Out out, const F& f, const Proj1& proj1 = {},
              const Proj2& proj2 = {}) {
  return nopal::transform(std::ranges::begin(range1), algorithms::end_of(range1),
                          std::ranges::begin(range2), algorithms::end_of(range2), out, f, proj1,
                          proj2);
}

/// Assigns the value to every element.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class T>
  requires algorithms::written<It> && std::indirectly_writable<It, const T&>
void fill(It first, End last, const T& value) {
  algorithms::for_pieces(algorithms::count_between(first, last),
                         [to = algorithms::plain(first),
                          value = algorithms::hold(value)](std::size_t from, std::size_t count) {
                           const T& each = value;
                           std::fill_n(algorithms::at(to, from), count, each);
                         });
}
template <parallel_range Range, class T>
  requires algorithms::written<std::ranges::iterator_t<Range>> &&
           std::indirectly_writable<std::ranges::iterator_t<Range>, const T&>
void fill(Range&& range, const T& value) {
  nopal::fill(std::ranges::begin(range), algorithms::end_of(range), value);
}

/// element = f() for every element, in any order.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class F>
  requires parallel_transformed<It, F>
void generate(It first, End last, const F& f) {
  algorithms::for_pieces(algorithms::count_between(first, last),
                         [to = algorithms::plain(first),
                          f = algorithms::hold(f)](std::size_t from, std::size_t count) {
                           for (std::size_t i = from; i < from + count; ++i)
                             *algorithms::at(to, i) = f();
                         });
}
template <parallel_range Range, class F>
  requires parallel_transformed<std::ranges::iterator_t<Range>, F>
void generate(Range&& range, const F& f) {
  nopal::generate(std::ranges::begin(range), algorithms::end_of(range), f);
}

/// Copies every element to `out`, which does not overlap the range. Returns the output's end.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Out>
  requires algorithms::written<Out> && std::indirectly_copyable<It, Out>
Out copy(It first, End last, Out out) {
  const auto from = algorithms::plain(first);
  const auto to = algorithms::plain(out);
  const std::size_t count = algorithms::count_between(first, last);
  algorithms::for_pieces(count, [=](std::size_t begin, std::size_t length) {
    std::ranges::copy_n(algorithms::at(from, begin),
                        static_cast<std::iter_difference_t<decltype(from)>>(length),
                        algorithms::at(to, begin));
  });
  return algorithms::at(out, count);
}
template <parallel_range Range, class Out>
  requires algorithms::written<Out> && std::indirectly_copyable<std::ranges::iterator_t<Range>, Out>
Out copy(Range&& range, Out out) {
  return nopal::copy(std::ranges::begin(range), algorithms::end_of(range), out);
}

/// f(proj(element)) for the first `count` elements. Returns the first behind them.
template <std::random_access_iterator It, class F, class Proj = std::identity>
  requires std::invocable<const F&, algorithms::given_by<Proj, It>>
It for_each_n(It first, std::iter_difference_t<It> count, const F& f, const Proj& proj = {}) {
  const It last = first + std::max(count, std::iter_difference_t<It>{0});
  nopal::for_each(first, last, f, proj);
  return last;
}

/// combine(... combine(init, map(first element)) ...), in this order but bracketed by pieces that
/// depend on the number of elements alone (loop.h): the bits of a floating-point sum are the same
/// with any number of workers. The parameters are those of std::transform_reduce.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class T,
          class Combine = std::plus<>, class Map = std::identity>
  requires detail::reduces<std::iter_reference_t<It>, T, Combine, Map>
T transform_reduce(It first, End last, T init, const Combine& combine = {}, const Map& map = {}) {
  return detail::reduce_elements(
      std::size_t{0}, algorithms::count_between(first, last), std::move(init), combine, map, 0,
      [from = algorithms::plain(first)](std::size_t i) -> std::iter_reference_t<It> {
        return *algorithms::at(from, i);
      });
}
template <parallel_range Range, class T, class Combine = std::plus<>, class Map = std::identity>
  requires detail::reduces<std::ranges::range_reference_t<Range>, T, Combine, Map>
T transform_reduce(Range&& range, T init, const Combine& combine = {}, const Map& map = {}) {
  return nopal::transform_reduce(std::ranges::begin(range), algorithms::end_of(range),
                                 std::move(init), combine, map);
}

/// How many elements `pred` is true for.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Pred,
          class Proj = std::identity>
  requires parallel_predicate<It, Pred, Proj>
std::iter_difference_t<It> count_if(It first, End last, const Pred& pred, const Proj& proj = {}) {
  const auto counts = algorithms::on(pred, proj);
  return static_cast<std::iter_difference_t<It>>(algorithms::count_those(
      algorithms::plain(first), algorithms::count_between(first, last), counts));
}
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires parallel_predicate<std::ranges::iterator_t<Range>, Pred, Proj>
std::ranges::range_difference_t<Range> count_if(Range&& range, const Pred& pred,
                                                const Proj& proj = {}) {
  return nopal::count_if(std::ranges::begin(range), algorithms::end_of(range), pred, proj);
}

/// How many elements are equal to the value.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class T,
          class Proj = std::identity>
  requires std::indirect_binary_predicate<std::ranges::equal_to, std::projected<It, const Proj&>,
                                          const T*>
std::iter_difference_t<It> count(It first, End last, const T& value, const Proj& proj = {}) {
  const auto counts = [&value, &proj](auto&& x) -> bool {
    return std::invoke(proj, std::forward<decltype(x)>(x)) == value;
  };
  return static_cast<std::iter_difference_t<It>>(algorithms::count_those(
      algorithms::plain(first), algorithms::count_between(first, last), counts));
}
template <parallel_range Range, class T, class Proj = std::identity>
  requires std::indirect_binary_predicate<
      std::ranges::equal_to, std::projected<std::ranges::iterator_t<Range>, const Proj&>, const T*>
std::ranges::range_difference_t<Range> count(Range&& range, const T& value, const Proj& proj = {}) {
  return nopal::count(std::ranges::begin(range), algorithms::end_of(range), value, proj);
}

/// Whether `pred` is true for an element, for all, for none. Behind the first one that decides,
/// elements are asked about no more, or in vain (find.h).
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Pred,
          class Proj = std::identity>
  requires parallel_predicate<It, Pred, Proj>
bool all_of(It first, End last, const Pred& pred, const Proj& proj = {}) {
  return nopal::for_each_while(first, last, algorithms::on(pred, proj)) == last;
}
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires parallel_predicate<std::ranges::iterator_t<Range>, Pred, Proj>
bool all_of(Range&& range, const Pred& pred, const Proj& proj = {}) {
  return nopal::all_of(std::ranges::begin(range), algorithms::end_of(range), pred, proj);
}
/// See all_of.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Pred,
          class Proj = std::identity>
  requires parallel_predicate<It, Pred, Proj>
bool none_of(It first, End last, const Pred& pred, const Proj& proj = {}) {
  return nopal::find_if(first, last, pred, proj) == last;
}
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires parallel_predicate<std::ranges::iterator_t<Range>, Pred, Proj>
bool none_of(Range&& range, const Pred& pred, const Proj& proj = {}) {
  return nopal::none_of(std::ranges::begin(range), algorithms::end_of(range), pred, proj);
}
/// See all_of.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Pred,
          class Proj = std::identity>
  requires parallel_predicate<It, Pred, Proj>
bool any_of(It first, End last, const Pred& pred, const Proj& proj = {}) {
  return !nopal::none_of(first, last, pred, proj);
}
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires parallel_predicate<std::ranges::iterator_t<Range>, Pred, Proj>
bool any_of(Range&& range, const Pred& pred, const Proj& proj = {}) {
  return !nopal::none_of(range, pred, proj);
}

/// Whether both ranges have equally many elements, all of them alike.
template <std::random_access_iterator It1, std::sized_sentinel_for<It1> End1,
          std::random_access_iterator It2, std::sized_sentinel_for<It2> End2,
          class Same = std::ranges::equal_to, class Proj1 = std::identity,
          class Proj2 = std::identity>
  requires std::predicate<const Same&, algorithms::given_by<Proj1, It1>,
                          algorithms::given_by<Proj2, It2>>
bool equal(It1 first1, End1 last1, It2 first2, End2 last2, const Same& same = {},
           const Proj1& proj1 = {}, const Proj2& proj2 = {}) {
  const std::size_t count = algorithms::count_between(first1, last1);
  if (count != algorithms::count_between(first2, last2))
    return false;
  const auto from1 = algorithms::plain(first1);
  const auto from2 = algorithms::plain(first2);
  return nopal::for_index_while(std::size_t{0}, count, [&](std::size_t i) -> bool {
           return std::invoke(same, std::invoke(proj1, *algorithms::at(from1, i)),
                              std::invoke(proj2, *algorithms::at(from2, i)));
         }) == count;
}
template <parallel_range Range1, parallel_range Range2, class Same = std::ranges::equal_to,
          class Proj1 = std::identity, class Proj2 = std::identity>
  requires std::predicate<const Same&, algorithms::given_by<Proj1, std::ranges::iterator_t<Range1>>,
                          algorithms::given_by<Proj2, std::ranges::iterator_t<Range2>>>
bool equal(Range1&& range1, Range2&& range2, const Same& same = {}, const Proj1& proj1 = {},
           const Proj2& proj2 = {}) {
  return nopal::equal(std::ranges::begin(range1), algorithms::end_of(range1),
                      std::ranges::begin(range2), algorithms::end_of(range2), same, proj1, proj2);
}

/// The first of the smallest elements; the end, if there is none.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End,
          class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_order<It, Comp, Proj>
It min_element(It first, End last, const Comp& comp = {}, const Proj& proj = {}) {
  const auto less = algorithms::by(comp, proj);
  return algorithms::choose(first, algorithms::count_between(first, last),
                            [&less]<class X, class Y>(X&& x, Y&& y) {
                              return less(std::forward<Y>(y), std::forward<X>(x));
                            });
}
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_order<std::ranges::iterator_t<Range>, Comp, Proj>
std::ranges::borrowed_iterator_t<Range> min_element(Range&& range, const Comp& comp = {},
                                                    const Proj& proj = {}) {
  return nopal::min_element(std::ranges::begin(range), algorithms::end_of(range), comp, proj);
}
/// The first of the largest elements; the end, if there is none.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End,
          class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_order<It, Comp, Proj>
It max_element(It first, End last, const Comp& comp = {}, const Proj& proj = {}) {
  return algorithms::choose(first, algorithms::count_between(first, last),
                            algorithms::by(comp, proj));
}
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_order<std::ranges::iterator_t<Range>, Comp, Proj>
std::ranges::borrowed_iterator_t<Range> max_element(Range&& range, const Comp& comp = {},
                                                    const Proj& proj = {}) {
  return nopal::max_element(std::ranges::begin(range), algorithms::end_of(range), comp, proj);
}
/// A copy of the first of the smallest elements, of the first of the largest.
/// @pre The range is not empty.
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_order<std::ranges::iterator_t<Range>, Comp, Proj> &&
           std::indirectly_copyable_storable<std::ranges::iterator_t<Range>,
                                             std::ranges::range_value_t<Range>*>
std::ranges::range_value_t<Range> min(Range&& range, const Comp& comp = {}, const Proj& proj = {}) {
  return *nopal::min_element(range, comp, proj);
}
/// See min.
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_order<std::ranges::iterator_t<Range>, Comp, Proj> &&
           std::indirectly_copyable_storable<std::ranges::iterator_t<Range>,
                                             std::ranges::range_value_t<Range>*>
std::ranges::range_value_t<Range> max(Range&& range, const Comp& comp = {}, const Proj& proj = {}) {
  return *nopal::max_element(range, comp, proj);
}
/// Copies of the first of the smallest and the last of the largest elements: std::ranges::minmax.
/// @pre The range is not empty.
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_order<std::ranges::iterator_t<Range>, Comp, Proj> &&
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
