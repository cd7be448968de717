// SPDX-License-Identifier: MIT
// Sorting and merging.
//
//     nopal::sort(items);
//     nopal::stable_sort(people, std::ranges::greater{}, &person::age);
//     nopal::merge(left, right, out.begin());
//
// Comparisons and projections are called as const, by several strands at a time. Work is O(n log
// n), of a merge O(n); span O(n / 512 + log^3 n), in place (`sort`) O(n / 128 + log^3 n), of a
// merge O(log^2 n). Sorts take memory for n elements and n bytes, or less (`sort`); a merge takes
// none.
//
// A comparison that is no strict weak order, as `<` is none where one key is NaN, leaves elements
// in any order, and nothing worse: none is lost, none is there twice, and all functions end.
//
// Exceptions: of several the serially first is thrown. Then, where the strand is cancelled, and
// where the memory is not there (std::bad_alloc), the range holds all its elements, in some order;
// to bring them back takes up to n moves. Only where a move throws some may be moved from; all are
// valid objects then, too. What a merge has written is any of its input.
#pragma once

#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/merge.h"
#include "nopal/algorithms/sort.h"
#include "nopal/config.h"
#include "nopal/indices.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// What can be sorted in parallel: std::sortable, by functions that are called as const and with
/// constants too, and elements that are objects in memory.
template <class It, class Comp = std::ranges::less, class Proj = std::identity>
concept parallel_sortable =
    algorithms::written<It> && std::sortable<It, const Comp&, const Proj&> &&
    std::strict_weak_order<const Comp&, algorithms::given_by<Proj, It>,
                           algorithms::given_by_constant<Proj, It>> &&
    std::constructible_from<std::iter_value_t<It>, std::iter_rvalue_reference_t<It>>;

/// Sorts; equal elements keep their order. As std::ranges::stable_sort.
/// @throws what a comparison, a projection or a move throws; std::bad_alloc.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// About n log2(n) comparisons, fewer where values repeat; memory for n elements and n bytes.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End,
          class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_sortable<It, Comp, Proj>
It stable_sort(It first, End last, const Comp& comp = {}, const Proj& proj = {}) {
  const std::size_t count = algorithms::count_between(first, last);
  algorithms::sort_range(algorithms::plain(first), count, algorithms::by(comp, proj));
  return algorithms::at(first, count);
}
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_sortable<std::ranges::iterator_t<Range>, Comp, Proj>
std::ranges::borrowed_iterator_t<Range> stable_sort(Range&& range, const Comp& comp = {},
                                                    const Proj& proj = {}) {
  return nopal::stable_sort(std::ranges::begin(range), algorithms::end_of(range), comp, proj);
}

/// Sorts; equal elements may change their order. As std::ranges::sort.
/// @throws as stable_sort.
/// @par Cost
/// As stable_sort. Contiguous numbers of 32 MiB or more, and what else is no more than bytes, at
/// most 16, take memory for at most 0.3 of them, of 800 MiB for 0.1, and what each strand's part
/// takes, which is less than 32 MiB. Where there are few values they take it for all.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End,
          class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_sortable<It, Comp, Proj>
It sort(It first, End last, const Comp& comp = {}, const Proj& proj = {}) {
  const std::size_t count = algorithms::count_between(first, last);
  algorithms::sort_range<algorithms::equal_ones::in_any_order>(algorithms::plain(first), count,
                                                               algorithms::by(comp, proj));
  return algorithms::at(first, count);
}
template <parallel_range Range, class Comp = std::ranges::less, class Proj = std::identity>
  requires parallel_sortable<std::ranges::iterator_t<Range>, Comp, Proj>
std::ranges::borrowed_iterator_t<Range> sort(Range&& range, const Comp& comp = {},
                                             const Proj& proj = {}) {
  return nopal::sort(std::ranges::begin(range), algorithms::end_of(range), comp, proj);
}

/// What can be merged in parallel: std::mergeable, by functions that are called as const and with
/// constants too, to objects in memory.
template <class It1, class It2, class Out, class Comp, class Proj1, class Proj2>
concept parallel_mergeable =
    algorithms::written<Out> &&
    std::mergeable<It1, It2, Out, const Comp&, const Proj1&, const Proj2&> &&
    std::predicate<const Comp&, algorithms::given_by_constant<Proj2, It2>,
                   algorithms::given_by_constant<Proj1, It1>>;

/// Copies the elements of two sorted ranges, sorted, to `out`, which overlaps neither. Of equal
/// elements those of the first range come first. Returns the end of the output.
template <std::random_access_iterator It1, std::sized_sentinel_for<It1> End1,
          std::random_access_iterator It2, std::sized_sentinel_for<It2> End2, class Out,
          class Comp = std::ranges::less, class Proj1 = std::identity, class Proj2 = std::identity>
  requires parallel_mergeable<It1, It2, Out, Comp, Proj1, Proj2>
Out merge(It1 first1, End1 last1, It2 first2, End2 last2, Out out, const Comp& comp = {},
          const Proj1& proj1 = {}, const Proj2& proj2 = {}) {
  const auto low = algorithms::sequence_of(first1, last1);
  const auto high = algorithms::sequence_of(first2, last2);
  const auto less = [&](auto&& y, auto&& x) -> bool { // y is of the second range
    return std::invoke(comp, std::invoke(proj2, std::forward<decltype(y)>(y)),
                       std::invoke(proj1, std::forward<decltype(x)>(x)));
  };
  algorithms::merge_in_parallel<algorithms::copying>(low, high, algorithms::plain(out), less);
  return algorithms::at(out, low.count + high.count);
}
template <parallel_range Range1, parallel_range Range2, class Out, class Comp = std::ranges::less,
          class Proj1 = std::identity, class Proj2 = std::identity>
  requires parallel_mergeable<std::ranges::iterator_t<Range1>, std::ranges::iterator_t<Range2>, Out,
                              Comp, Proj1, Proj2>
Out merge(Range1&& range1, Range2&& range2, Out out, const Comp& comp = {}, const Proj1& proj1 = {},
          const Proj2& proj2 = {}) {
  return nopal::merge(std::ranges::begin(range1), algorithms::end_of(range1),
                      std::ranges::begin(range2), algorithms::end_of(range2), out, comp, proj1,
                      proj2);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
