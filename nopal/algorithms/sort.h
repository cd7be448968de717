// SPDX-License-Identifier: MIT
// Sorts a range: distributes it (distribute.h), and merges what each bucket holds (merge_sort.h).
//
// A distribution costs less than the seven levels of merges in whose place it is. What seems to be
// in order is merged alone: that moves sequences and compares little. Both are stable. What is in
// order throughout, either way round, is read once. Numbers that are equal are written, not moved.
//
// Many numbers are distributed where they lie before (distribute_in_place.h), and each bucket is
// sorted so: to touch memory for the first time may cost more than the sort (docs/decisions.md).
#pragma once

#include "nopal/algorithms/blocks.h"
#include "nopal/algorithms/distribute.h"
#include "nopal/algorithms/distribute_in_place.h"
#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/merge_sort.h"
#include "nopal/algorithms/scratch.h"
#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/leaf.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <new>
#include <type_traits>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

// Splitters; none where a sample is in order. A frequent value is among them, and where there are
// few values, all.
template <class T> struct choice {
  std::size_t count = 0;
  bool repeated = false; // some elements of the sample are equal
  bool all = false;      // the splitters are all values of the sample
  stand_in<T> chosen[most_splitters];
};
template <class It, class T, class Less>
void choose_splitters(It data, std::size_t count, choice<T>& to, const Less& before) {
  stand_in<T> sample[1024];
  stand_in<T> other[1024];
  const std::size_t size = std::min(std::bit_floor(count / 64), std::size(sample)) - 1;
  const std::size_t stride = count / size;
  std::uint64_t random = count;
  for (std::size_t i = 0; i < size; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    sample[i] = stand_in_for<T>(*at(data, i * stride + (random >> 32) % stride));
  }
  const auto behind = [&before](const auto& x, const auto& y) { return before(y, x); };
  if (in_order(sample, size, before) || in_order(sample, size, behind))
    return;
  sort_serially(&sample[0], &other[0], size, false, before);
  std::size_t distinct = 1;
  for (std::size_t i = 1; i < size; ++i)
    distinct += before(sample[i - 1], sample[i]) ? 1 : 0;
  to.repeated = distinct < size;
  to.all = distinct <= most_splitters;
  const std::size_t step = to.all ? 1 : (size + 1) / (most_splitters + 1);
  // Where `less` is no order, more than `distinct` might seem to differ.
  for (std::size_t i = step - 1; i < size && to.count < most_splitters; i += step)
    if (to.count == 0 || before(to.chosen[to.count - 1], sample[i]))
      to.chosen[to.count++] = sample[i];
}

template <class It, class T> void fill_pieces(It to, std::size_t count, const T& copied) {
  for_elements(count, [to, &copied](std::size_t i, std::size_t length) {
    std::fill_n(at(to, i), length, copied);
  });
}

// As sort_between, also where something throws, after at most so many distributions, one below the
// other.
template <class Data, class Other, class Less>
void sort_values(Data data, Other other, std::size_t count, bool to_other, const Less& less,
                 unsigned distributions) {
  constexpr std::size_t many = 1 << 12;
  using value = std::iter_value_t<Data>;
  choice<value> chosen;
  if (count >= many && distributions != 0)
    nopal::leaf([data, count, &less, to = &chosen] {
      if constexpr (few_bytes<value>)
        choose_splitters(data, count, *to, less);
      else
        choose_splitters(data, count, *to, by_place<Less>{less});
    });
  if (chosen.count == 0)
    return sort_between(data, other, count, to_other, less);
  const splitters<value, Less> over{chosen.chosen, chosen.count, chosen.repeated, less};
  const auto finish = [&](std::size_t bucket, std::size_t begin, std::size_t end) {
    const Data in_data = at(data, begin);
    const Other in_other = at(other, begin);
    if (!over.equal(bucket)) {
      sort_values(in_other, in_data, end - begin, !to_other, less, distributions - 1);
    } else if constexpr (tells_apart<value, Less>) {
      to_other ? fill_pieces(in_other, end - begin, over.value_of(bucket))
               : fill_pieces(in_data, end - begin, over.value_of(bucket));
    } else if (!to_other) {
      bring(sequence<Other>{in_other, end - begin}, in_data);
    }
  };
  // What is not where it was to be is in `other`, but for values that are written.
  const auto undo = [&](std::size_t bucket, std::size_t begin, std::size_t end, bool finished) {
    if constexpr (tells_apart<value, Less>)
      if (over.equal(bucket))
        return fill_pieces(at(data, begin), end - begin, over.value_of(bucket));
    if (to_other || !finished)
      bring(sequence<Other>{at(other, begin), end - begin}, at(data, begin));
  };
  if (!distribute(data, other, count, over, finish, undo))
    sort_between(data, other, count, to_other, less);
}

// Whether the range was in order, either way round, and is sorted now. Else it is as it was.
template <class It, class Less> bool sort_ordered(It first, std::size_t count, const Less& less) {
  const bool falls = less(*at(first, 1), *at(first, 0));
  const auto goes_on = [first, falls, &less](std::size_t i, std::size_t end) {
#pragma GCC unroll 4
    for (; i < end; ++i)
      if (less(*at(first, i + 1), *at(first, i)) != falls)
        return false;
    return true;
  };
  const std::size_t few = std::min(few_serially, count - 1);
  if (!goes_on(0, few))
    return false;
  base::atomic<bool> ordered{true}; // the loop ends before it is read for the last time
  for_long_pieces(count - 1 - few, [few, goes_on, &ordered](std::size_t i, std::size_t length) {
    if (ordered.load(base::relaxed) && !goes_on(few + i, few + i + length))
      ordered.store(false, base::relaxed);
  });
  if (!ordered.load(base::relaxed))
    return false;
  if (falls) // strictly, so no elements are equal
    for_elements(count / 2, [first, count](std::size_t from, std::size_t some) {
      for (std::size_t i = from; i < from + some; ++i)
        std::ranges::iter_swap(at(first, i), at(first, count - 1 - i));
    });
  return true;
}

template <class It, class Less>
void sort_with_scratch(It first, std::size_t count, const Less& less) {
  scratch<std::iter_value_t<It>> buffer{count};
  if constexpr (only_bytes<std::iter_value_t<It>>) {
    sort_values(first, buffer.begin(), count, false, less, 3);
  } else {
    buffer.take(first);
    try {
      sort_values(buffer.begin(), first, count, true, less, 3);
    } catch (...) {
      bring(sequence<std::iter_value_t<It>*>{buffer.begin(), count}, first);
      throw;
    }
  }
}

// Floating-point numbers as integers that have the same order, where they lie. Comparisons of
// integers cost less. The bits of negative numbers but the sign's fall as the numbers rise, so they
// are turned.
template <class T>
using as_integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
template <class T, class Less>
inline constexpr bool ordered_as_integers =
    is_one_of<T, float, double> && std::numeric_limits<T>::is_iec559 &&
    Less::template order_of<T> != order::other;
template <class To, class From> void turn(From* first, std::size_t count) {
  using integer = as_integer<From>;
  for (From* const last = first + count; first != last; ++first) {
    const auto bits = std::bit_cast<integer>(*first);
    const integer turned = bits ^ (bits < 0 ? std::numeric_limits<integer>::max() : 0);
    ::new (static_cast<void*>(first)) To{std::bit_cast<To>(turned)};
  }
}
template <class T, class Comp>
void sort_as_integers(T* first, std::size_t count, const Comp& comp) {
  using integer = as_integer<T>;
  const scratch<integer> buffer{count};
  integer* const integers = reinterpret_cast<integer*>(first);
  const auto turn_back = [integers, count] {
    base::light_barrier(); // compilers move no access across, though the types differ
    for_elements(count,
                 [integers](std::size_t i, std::size_t length) { turn<T>(integers + i, length); });
  };
  for_elements(count,
               [first](std::size_t i, std::size_t length) { turn<integer>(first + i, length); });
  base::light_barrier();
  const std::identity same;
  try {
    sort_values(integers, buffer.begin(), count, false, by{comp, same}, 3);
  } catch (...) { // the strand is cancelled
    turn_back();
    throw;
  }
  turn_back();
}

// Buckets of many numbers are distributed as all of them, so many times at most, one below the
// other.
template <class T, class Less>
void sort_in_place(T* first, std::size_t count, const Less& less, unsigned distributions) {
  constexpr std::size_t many_bytes = std::size_t{32} << 20;
  if (count * sizeof(T) >= many_bytes && distributions != 0) {
    choice<T> chosen;
    nopal::leaf([first, count, &less, to = &chosen] { choose_splitters(first, count, *to, less); });
    if (chosen.count != 0 && !chosen.all) {
      const splitters<T, Less> over{chosen.chosen, chosen.count, chosen.repeated, less};
      return in_place_distribution{first, count, over}.run(
          [&](std::size_t bucket, std::size_t begin, std::size_t end) {
            if (!over.equal(bucket))
              sort_in_place(first + begin, end - begin, less, distributions - 1);
          });
    }
  }
  if constexpr (!ordered_as_integers<T, Less>)
    sort_with_scratch(first, count, less);
  else if constexpr (Less::template order_of<T> == order::rising)
    sort_as_integers(first, count, std::ranges::less{});
  else
    sort_as_integers(first, count, std::ranges::greater{});
}

enum class equal_ones : bool { keep_their_order, in_any_order };
template <equal_ones Equal = equal_ones::keep_their_order, class It, class Less>
void sort_range(It first, std::size_t count, const Less& less) {
  using value = std::iter_value_t<It>;
  if (count <= 16)
    return sort_by_insertion(sequence<It>{first, count}, less);
  if (sort_ordered(first, count, less))
    return;
  if constexpr (few_bytes<value> && std::is_same_v<It, value*> &&
                (Equal == equal_ones::in_any_order || tells_apart<value, Less>))
    sort_in_place(first, count, less, 3);
  else
    sort_with_scratch(first, count, less);
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
