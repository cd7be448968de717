// SPDX-License-Identifier: MIT
// Algorithms that keep some elements, or divide a range by a predicate.
//
//     out.erase(nopal::copy_if(items, out.begin(), fits), out.end());
//     items.erase(nopal::remove_if(items, old), items.end());
//     items.erase(nopal::unique(items), items.end());
//     auto others = nopal::partition(items, fits);
//     auto rest = nopal::stable_partition(items, fits, &item::weight);
//
// They have the parameters of their counterparts in std::ranges and return the end of what is kept,
// or the first of the others. Predicates and projections are called as const, by several strands
// at a time, once for each element. Work O(n); span O(n / 512), beside what each comment says.
//
// Whatever predicates answer, no element is doubled, and a partition loses none.
//
// Exceptions: of several the serially first is thrown. Then, and where the strand is cancelled, the
// range holds all its elements, in some order. Only where a move throws some may be moved from; all
// are valid objects then, too.
#pragma once

#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/keep.h"
#include "nopal/algorithms/partition.h"
#include "nopal/config.h"
#include "nopal/indices.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// What a predicate of projected elements divides, in place.
template <class It, class Pred, class Proj>
concept parallel_permutable =
    algorithms::written<It> && std::permutable<It> &&
    std::indirect_unary_predicate<const Pred&, std::projected<It, const Proj&>>;

/// Copies the elements that `pred` is true for, in order, to `out`, which does not overlap the
/// range. Returns the end of the output.
/// @par Cost
/// A bit of memory for each element.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Out, class Pred,
          class Proj = std::identity>
  requires algorithms::written<Out> && std::indirectly_copyable<It, Out> &&
           std::indirect_unary_predicate<const Pred&, std::projected<It, const Proj&>>
Out copy_if(It first, End last, Out out, const Pred& pred, const Proj& proj = {}) {
  const auto wanted = algorithms::on(pred, proj);
  const auto from = algorithms::plain(first);
  const auto keeps = [&](std::size_t i) { return wanted(*algorithms::at(from, i)); };
  return algorithms::at(out, algorithms::copy_those(from, algorithms::count_between(first, last),
                                                    algorithms::plain(out), keeps));
}
template <parallel_range Range, class Out, class Pred, class Proj = std::identity>
  requires requires(std::ranges::iterator_t<Range> it, Out out, const Pred& pred,
                    const Proj& proj) { nopal::copy_if(it, it, out, pred, proj); }
Out copy_if(Range&& range, Out out, const Pred& pred, const Proj& proj = {}) {
  return nopal::copy_if(std::ranges::begin(range), algorithms::end_of(range), out, pred, proj);
}

/// Copies the first element of each group of equal neighbours, in order, to `out`, which does not
/// overlap the range. Returns the end of the output.
/// @pre `same` is an equivalence.
/// @par Cost
/// A bit of memory for each element.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Out,
          class Same = std::ranges::equal_to, class Proj = std::identity>
  requires algorithms::read_again<It> && algorithms::written<Out> &&
           std::indirectly_copyable<It, Out> &&
           std::indirect_equivalence_relation<const Same&, std::projected<It, const Proj&>>
Out unique_copy(It first, End last, Out out, const Same& same = {}, const Proj& proj = {}) {
  const auto alike = algorithms::by(same, proj);
  const auto from = algorithms::plain(first);
  const auto keeps = [&](std::size_t i) {
    return i == 0 || !alike(*algorithms::at(from, i - 1), *algorithms::at(from, i));
  };
  return algorithms::at(out, algorithms::copy_those(from, algorithms::count_between(first, last),
                                                    algorithms::plain(out), keeps));
}
template <parallel_range Range, class Out, class Same = std::ranges::equal_to,
          class Proj = std::identity>
  requires requires(std::ranges::iterator_t<Range> it, Out out, const Same& same,
                    const Proj& proj) { nopal::unique_copy(it, it, out, same, proj); }
Out unique_copy(Range&& range, Out out, const Same& same = {}, const Proj& proj = {}) {
  return nopal::unique_copy(std::ranges::begin(range), algorithms::end_of(range), out, same, proj);
}

/// Moves the elements that `pred` is false for to the front, in order, and returns their end.
/// @par Cost
/// A bit of memory for each element. What thieves have asked about is moved serially.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Pred,
          class Proj = std::identity>
  requires parallel_permutable<It, Pred, Proj>
It remove_if(It first, End last, const Pred& pred, const Proj& proj = {}) {
  const auto removed = algorithms::on(pred, proj);
  const auto from = algorithms::plain(first);
  const std::size_t count = algorithms::count_between(first, last);
  const auto keeps = algorithms::keep_others(from, algorithms::blocks{count}, removed);
  return algorithms::at(first, algorithms::move_those(from, count, keeps));
}
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires parallel_permutable<std::ranges::iterator_t<Range>, Pred, Proj>
std::ranges::borrowed_iterator_t<Range> remove_if(Range&& range, const Pred& pred,
                                                  const Proj& proj = {}) {
  return nopal::remove_if(std::ranges::begin(range), algorithms::end_of(range), pred, proj);
}

/// Moves the first element of each group of equal neighbours to the front, in order, and returns
/// their end.
/// @pre `same` is an equivalence.
/// @par Cost
/// As remove_if.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End,
          class Same = std::ranges::equal_to, class Proj = std::identity>
  requires algorithms::written<It> && std::permutable<It> &&
           std::indirect_equivalence_relation<const Same&, std::projected<It, const Proj&>>
It unique(It first, End last, const Same& same = {}, const Proj& proj = {}) {
  const auto alike = algorithms::by(same, proj);
  const auto from = algorithms::plain(first);
  const std::size_t count = algorithms::count_between(first, last);
  const algorithms::keeps_first keeps(from, algorithms::blocks{count}, alike);
  return algorithms::at(first, algorithms::move_those(from, count, keeps));
}
template <parallel_range Range, class Same = std::ranges::equal_to, class Proj = std::identity>
  requires requires(std::ranges::iterator_t<Range> it, const Same& same, const Proj& proj) {
    nopal::unique(it, it, same, proj);
  }
std::ranges::borrowed_iterator_t<Range> unique(Range&& range, const Same& same = {},
                                               const Proj& proj = {}) {
  return nopal::unique(std::ranges::begin(range), algorithms::end_of(range), same, proj);
}

/// Puts the elements that `pred` is true for before the others, and returns the first of these. The
/// order depends on the schedule.
/// @par Cost
/// No memory. Swaps are made in parallel, too.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Pred,
          class Proj = std::identity>
  requires parallel_permutable<It, Pred, Proj>
It partition(It first, End last, const Pred& pred, const Proj& proj = {}) {
  return algorithms::at(first, algorithms::partition_range(algorithms::plain(first),
                                                           algorithms::count_between(first, last),
                                                           algorithms::on(pred, proj)));
}
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires parallel_permutable<std::ranges::iterator_t<Range>, Pred, Proj>
std::ranges::borrowed_iterator_t<Range> partition(Range&& range, const Pred& pred,
                                                  const Proj& proj = {}) {
  return nopal::partition(std::ranges::begin(range), algorithms::end_of(range), pred, proj);
}

/// As partition, but both parts keep their order.
/// @par Cost
/// Memory for n elements, and a bit for each. All elements are moved twice, unless they are of one
/// part.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Pred,
          class Proj = std::identity>
  requires parallel_permutable<It, Pred, Proj>
It stable_partition(It first, End last, const Pred& pred, const Proj& proj = {}) {
  return algorithms::at(first, algorithms::partition_stably(algorithms::plain(first),
                                                            algorithms::count_between(first, last),
                                                            algorithms::on(pred, proj)));
}
template <parallel_range Range, class Pred, class Proj = std::identity>
  requires parallel_permutable<std::ranges::iterator_t<Range>, Pred, Proj>
std::ranges::borrowed_iterator_t<Range> stable_partition(Range&& range, const Pred& pred,
                                                         const Proj& proj = {}) {
  return nopal::stable_partition(std::ranges::begin(range), algorithms::end_of(range), pred, proj);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
