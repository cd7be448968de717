// SPDX-License-Identifier: MIT
// Loops: an ordinary loop in one line, by recursive halving over fork.h.
//
//     nopal::for_index(0, n, [&](int i) { out[i] = f(in[i]); });
//     nopal::for_each(items, [](item& x) { x.update(); });
//     double sum = nopal::reduce(0, n, 0.0, std::plus<>{}, [&](int i) { return a[i]; });
//
// Indices: the common type of both ends (indices.h). f(int), given a std::size_t, narrows as in a
// plain loop, and compilers warn of it (-Wconversion).
//
// Grain: at most so many consecutive iterations run serially. With 0, the default, loops are split
// where a thread has nothing to do (algorithms/lazy.h). A reduction has at most 512 pieces; and
// fewer, but at least 16, where its first value has more than 4 KiB, or 64 where it is an empty
// container. Neither the number of workers nor the schedule has an influence, so a reduction's
// tree, and with it the rounding of a floating-point sum, is the same on every machine.
//
// What is reduced lies in one place while a piece adds to it, and combinations move it: no value is
// copied but identities. combine(T&, x) without a result, or with its first argument as the result,
// adds to a T where that lies; accumulate.h does so without a value for each piece.
//
// Exceptions: as by invoke, with an iteration for each function; the smallest index wins. Work and
// span: n iterations have span O(log(n / grain)) plus the longest grain or piece.
#pragma once

#include "nopal/algorithms/brackets.h"
#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/lazy.h"
#include "nopal/config.h"
#include "nopal/fork.h"
#include "nopal/indices.h"
#include "nopal/preemption.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// The first value of each piece of a reduction: combine(identity, x) is x.
template <class T> struct NOPAL_TYPE identity {
  T value;
};
template <class T> identity(T) -> identity<T>;

namespace detail {

// A plain call, so that compilers warn where an index narrows; std::invoke hides that.
template <class F, class... Args>
[[gnu::always_inline]] inline decltype(auto) call(const F& f, Args&&... args) {
  if constexpr (std::is_member_pointer_v<F>)
    return std::invoke(f, std::forward<Args>(args)...);
  else
    return f(std::forward<Args>(args)...);
}

// About as many bytes as a copy of the value takes. One that is empty will grow: with the 64 pieces
// of this answer words took half of the time that they took with 512 (docs/decisions.md).
template <class T> std::size_t bytes_of(const T& value) {
  constexpr std::size_t grows = 32768;
  if constexpr (std::ranges::sized_range<const T>)
    return std::ranges::empty(value)
               ? std::max(sizeof(T), grows)
               : std::max(sizeof(T), static_cast<std::size_t>(std::ranges::size(value)) *
                                         sizeof(std::ranges::range_value_t<const T>));
  else
    return sizeof(T);
}

inline std::size_t grain_of(std::size_t count, std::size_t asked, std::size_t bytes = 0) noexcept {
  constexpr std::size_t pieces_max = 512;
  constexpr std::size_t few_pieces = 16;
  constexpr std::size_t small_value = 4096;
  if (asked != 0)
    return asked;
  std::size_t pieces = pieces_max;
  if (bytes > small_value)
    pieces = std::max(few_pieces, pieces_max * small_value / bytes);
  return parts_of(count, pieces);
}

// A value of a piece, or none. Large ones lie on the heap, for each level of a loop has two.
template <class T> class boxed {
public:
  boxed() noexcept = default;
  template <class Make> boxed(std::in_place_t, const Make& make) : at_(new T(make())) {}

  explicit operator bool() const noexcept { return at_ != nullptr; }
  T& operator*() & noexcept { return *at_; }
  T&& operator*() && noexcept { return std::move(*at_); }

private:
  std::unique_ptr<T> at_;
};
template <class T> using kept = std::conditional_t<sizeof(T) <= 256, std::optional<T>, boxed<T>>;
template <class T, class Make> kept<T> keep(const Make& make) {
  if constexpr (std::is_same_v<kept<T>, boxed<T>>)
    return boxed<T>{std::in_place, make};
  else
    return std::optional<T>{make()};
}

// What a piece has computed does not end the loop.
struct goes_on {
  template <class T> constexpr bool operator()(const T&) const noexcept { return false; }
};

// `leaf(first, count)` for each piece; `combine(low, high)` adds a result to the one before it, up
// to the first one that `ends` the loop, after which pieces may be left out. Nothing if the strand
// is cancelled, which is not thrown at each level. Its scope's frame is this function's: inlined
// into a coroutine, the scope would lie on the heap.
template <class I, class Leaf, class Combine, class Ends>
[[gnu::noinline]] auto halve(I first, std::size_t count, std::size_t grain, const Leaf& leaf,
                             Combine combine, Ends ends)
    -> kept<std::invoke_result_t<const Leaf&, I, std::size_t>> {
  using result = std::invoke_result_t<const Leaf&, I, std::size_t>;
  if (count <= grain) {
    if (stops_at_poll())
      return {};
    return nopal::leaf([=, &leaf] { return keep<result>([&] { return leaf(first, count); }); });
  }
  const std::size_t left = count / 2;
  kept<result> low;
  kept<result> high;
  const auto part = [&](kept<result>& to, I from, std::size_t length) {
    to = halve(from, length, grain, leaf, combine, ends);
    return to && !ends(*to);
  };
#if defined(NOPAL_SERIAL)
  if (part(low, first, left))
    part(high, advance(first, left), count - left);
#else
  structured_scope s;
  s.fork([&] { return part(low, first, left) ? join::ended::well : join::ended::stopped; });
  s.call_last([&] { part(high, advance(first, left), count - left); });
  const bool complete = s.try_join();
#endif
  if (low && ends(*low))
    return low;
#if !defined(NOPAL_SERIAL)
  if (!complete || !high)
    return {};
#endif
  combine(*low, std::move(*high));
  return low;
}

template <class I, class Leaf, class Combine, class Ends = goes_on>
auto over_pieces(I first, std::size_t count, std::size_t grain, const Leaf& leaf, Combine combine,
                 Ends ends = {}) {
  auto all = halve(first, count, grain, leaf, combine, ends);
#if !defined(NOPAL_SERIAL)
  if (!all)
    join::throw_cancelled();
#endif
  return *std::move(all);
}

template <class Combine, class T, class Item>
concept combines_values = std::invocable<const Combine&, T, Item> &&
                          std::convertible_to<std::invoke_result_t<const Combine&, T, Item>, T>;
template <class Combine, class T, class Item>
concept combines_in_place =
    !combines_values<Combine, T, Item> && std::invocable<const Combine&, T&, Item> &&
    (std::is_void_v<std::invoke_result_t<const Combine&, T&, Item>> ||
     std::same_as<std::invoke_result_t<const Combine&, T&, Item>, T&>);
template <class Combine, class T, class Item>
concept combines_with = combines_values<Combine, T, Item> || combines_in_place<Combine, T, Item>;

template <class Init> struct first_value {
  using type = Init;
};
template <class T> struct first_value<identity<T>> {
  using type = T;
};
template <class Init> using value_from = typename first_value<Init>::type;
template <class Init>
concept counted_once = std::same_as<Init, value_from<Init>>;

template <class Each, class T, class Combine, class Map>
concept folds = std::is_move_constructible_v<T> && std::is_move_assignable_v<T> &&
                std::invocable<const Map&, Each> &&
                combines_with<Combine, T, std::invoke_result_t<const Map&, Each>>;
template <class Each, class T, class Combine, class Map>
concept reduces = counted_once<T> && folds<Each, T, Combine, Map> && combines_with<Combine, T, T> &&
                  std::convertible_to<std::invoke_result_t<const Map&, Each>, T>;
template <class First, class Last, class T, class Combine, class Map>
concept can_fold = bounds<First, Last> && folds<index_of<First, Last>, T, Combine, Map>;
template <class First, class Last, class T, class Combine, class Map>
concept can_reduce = bounds<First, Last> && reduces<index_of<First, Last>, T, Combine, Map>;

// What is wrong with a reduction, if it can be said.
enum class reduction { unknown, swapped, of_two_types };
template <class First, class Last, class Init, class Combine, class Map, class... Grain>
consteval reduction why_not_reduce() {
  using first = std::decay_t<First>;
  using last = std::decay_t<Last>;
  using value = value_from<std::decay_t<Init>>;
  if constexpr (can_fold<first, last, value, std::decay_t<Combine>, std::decay_t<Map>>)
    return !counted_once<std::decay_t<Init>> ||
                   can_reduce<first, last, value, std::decay_t<Combine>, std::decay_t<Map>>
               ? reduction::unknown
               : reduction::of_two_types;
  else
    return can_fold<first, last, value, std::decay_t<Map>, std::decay_t<Combine>>
               ? reduction::swapped
               : reduction::unknown;
}

// combine(total, mapped), or total = combine(total, mapped), where combine may return a reference
// into its arguments.
template <class T, class Combine, class Mapped>
[[gnu::always_inline]] inline void add(T& total, const Combine& combine, Mapped&& mapped) {
  if constexpr (combines_values<Combine, T, Mapped>) {
    T next = call(combine, std::move(total), std::forward<Mapped>(mapped));
    total = std::move(next);
  } else if constexpr (std::is_void_v<std::invoke_result_t<const Combine&, T&, Mapped>>) {
    call(combine, total, std::forward<Mapped>(mapped));
  } else {
    T& sum = call(combine, total, std::forward<Mapped>(mapped));
    if (std::addressof(sum) != std::addressof(total))
      total = std::move(sum);
  }
}

// A piece of for_index, counted from `first`; an iteration over elements.
template <class I, class F> struct index_piece {
  I first;
  algorithms::held<F> f;

  void operator()(std::size_t from, std::size_t count) const {
    for (std::size_t i = from; i < from + count; ++i)
      static_cast<void>(call(f, advance(first, i)));
  }
};
template <class Result, class It, class F> struct element_call {
  It first;
  algorithms::held<F> f;

  // An element that is a value ends here, so no reference that f returns leaves this.
  Result operator()(std::size_t i) const {
    return static_cast<Result>(call(f, first[static_cast<std::iter_difference_t<It>>(i)]));
  }
};

// The sum of what leaf(first, count) returns for each piece. Grain 0: a strand runs piece after
// piece, and gives some away where a thread has nothing to do.
template <class T, class I, class Leaf, class Combine>
T sum_of_pieces(I first, std::size_t count, std::size_t grain, std::size_t bytes, const Leaf& leaf,
                const Combine& combine) {
  if (grain != 0)
    return over_pieces(first, count, grain, leaf,
                       [&combine](T& low, T&& high) { add(low, combine, std::move(high)); });
  grain = grain_of(count, 0, bytes);
  const auto of_piece = [&](std::size_t piece) {
    const std::size_t from = piece * grain;
    return keep<T>([&] { return leaf(advance(first, from), std::min(grain, count - from)); });
  };
  const auto unite = [&combine](kept<T>& low, kept<T>&& high) {
    add(*low, combine, *std::move(high));
  };
  return *algorithms::sum_in_brackets<kept<T>>(parts_of(count, grain), grain, of_piece, unite);
}

// The sum of `init` and all map(element(i)). Each is added in the expression that makes the
// element: what map gives may refer to it, and it may be a value.
template <class I, class T, class Combine, class Map, class Element>
T reduce_elements(I first, std::size_t count, T init, const Combine& combine, const Map& map,
                  std::size_t grain, const Element& element) {
  if (count == 0)
    return init;
  const auto piece = [&](I from, std::size_t length) -> T {
    T total = static_cast<T>(call(map, element(from)));
    for (std::size_t i = 1; i < length; ++i)
      add(total, combine, call(map, element(advance(from, i))));
    return total;
  };
  add(init, combine, sum_of_pieces<T>(first, count, grain, bytes_of(init), piece, combine));
  return init;
}

} // namespace detail

/// combine(... combine(combine(init, map(first)), map(first + 1)) ...), in this order but bracketed
/// by pieces, the same on every machine: combine must be associative, not commutative. `init`
/// stands in front, once; a piece begins with its first element. The order of the parameters is
/// that of std::transform_reduce. `combine` returns the sum, or takes its first argument by
/// reference and adds to it.
template <class First, class Last, class T, class Combine, class Map>
  requires detail::can_reduce<First, Last, T, Combine, Map>
T reduce(First first, Last last, T init, const Combine& combine, const Map& map,
         std::size_t grain = 0) {
  const detail::indices all{first, last};
  return detail::reduce_elements(all.first, all.count, std::move(init), combine, map, grain,
                                 [](typename decltype(all)::type i) { return i; });
}

/// The same, where each piece begins with a copy of an identity: for results of map that are no T,
/// which combine(T, result) adds to a T.
template <class First, class Last, class T, class Combine, class Map>
  requires std::is_copy_constructible_v<T> && detail::can_fold<First, Last, T, Combine, Map> &&
           detail::combines_with<Combine, T, T>
T reduce(First first, Last last, identity<T> each, const Combine& combine, const Map& map,
         std::size_t grain = 0) {
  const detail::indices all{first, last};
  if (all.count == 0)
    return std::move(each.value);
  using index = typename decltype(all)::type;
  const auto piece = [&](index from, std::size_t length) -> T {
    T total = std::as_const(each.value);
    for (std::size_t i = 0; i < length; ++i)
      detail::add(total, combine, detail::call(map, detail::advance(from, i)));
    return total;
  };
  return detail::sum_of_pieces<T>(all.first, all.count, grain, detail::bytes_of(each.value), piece,
                                  combine);
}

template <class... Given>
  requires(detail::why_not_reduce<Given...>() == detail::reduction::swapped)
void reduce(Given&&...) NOPAL_REFUSED("combine stands before map, as in std::transform_reduce");
template <class... Given>
  requires(detail::why_not_reduce<Given...>() == detail::reduction::of_two_types)
void reduce(Given&&...) NOPAL_REFUSED("map gives no T, or combine(T, T) none: nopal::identity?");

/// f(i) for every i in [first, last), in any order and possibly at the same time.
template <class First, class Last, class F>
  requires index_range<First, Last> && std::invocable<const F&, detail::index_of<First, Last>>
void for_index(First first, Last last, const F& f, std::size_t grain = 0) {
  const detail::indices all{first, last};
  const detail::index_piece<typename decltype(all)::type, F> piece{all.first, f};
  if (grain == 0)
    return algorithms::for_pieces(all.count, piece);
  const auto leaf = [&](typename decltype(all)::type from, std::size_t length) {
    piece(static_cast<std::size_t>(from) - static_cast<std::size_t>(all.first), length);
    return std::monostate{};
  };
  const auto nothing = [](std::monostate, std::monostate) {};
  detail::over_pieces(all.first, all.count, grain, leaf, nothing);
}

/// f(*it) for every element of a random-access range.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class F>
  requires std::invocable<const F&, std::iter_reference_t<It>>
void for_each(It first, End last, const F& f, std::size_t grain = 0) {
  for_index(std::size_t{0}, detail::count_of(last - first),
            detail::element_call<void, It, F>{first, f}, grain);
}

template <parallel_range Range, class F>
  requires std::invocable<const F&, std::ranges::range_reference_t<Range>>
void for_each(Range&& range, const F& f, std::size_t grain = 0) {
  nopal::for_each(std::ranges::begin(range), algorithms::end_of(range), f, grain);
}

/// The same with f(proj(element)).
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class F, class Proj>
  requires std::invocable<const F&, algorithms::given_by<Proj, It>>
void for_each(It first, End last, const F& f, const Proj& proj, std::size_t grain = 0) {
  nopal::for_each(first, last, algorithms::on<void>(f, proj), grain);
}
template <parallel_range Range, class F, class Proj>
  requires std::invocable<const F&, algorithms::given_by<Proj, std::ranges::iterator_t<Range>>>
void for_each(Range&& range, const F& f, const Proj& proj, std::size_t grain = 0) {
  nopal::for_each(range, algorithms::on<void>(f, proj), grain);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
