// SPDX-License-Identifier: MIT
// A table of ranges and algorithms. Each row is an algorithm, each column a kind of range
// (range_kinds.h). A cell is a call with the range, and one with two iterators. It must compile
// exactly where the row's need says so, and then have the result that std has with a container of
// the same values. A cell that is missing does not compile: the table is made of the two lists.
#pragma once

#include "tests/strangers/range_kinds.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <type_traits>
#include <typeinfo>

namespace nopal_test {

inline std::atomic<long> noted{0};

// Functions that take an element of any kind as a constant.
struct key_of {
  long operator()(const std::string& text) const { return std::stol(text.substr(text.size() - 6)); }
  long operator()(const couple& both) const { return both.number; }
  long operator()(const coupled& both) const { return both.number; }
  template <class X>
    requires std::convertible_to<const X&, long>
  long operator()(const X& x) const {
    return static_cast<long>(x);
  }
};
inline constexpr key_of key;
inline constexpr auto mixed = [](const auto& x) { return key(x) * 7919 % 1009; };
inline constexpr auto quarter = [](const auto& x) { return key(x) / 4; };
inline constexpr auto large = [](long x) { return x > 400; };
inline constexpr auto odd = [](long x) { return x % 2 != 0; };
inline constexpr auto note = [](long x) { noted += 2 * x + 1; };
inline constexpr auto first_of = [](auto& in, auto&...) {
  if constexpr (requires { std::ranges::begin(in); })
    return std::ranges::begin(in);
  else
    return in;
};
template <class T> struct gives {
  T value;
  const T& operator()() const { return value; }
};

// What a row asks of a range.
enum class need {
  of_indices, // is refused all
  to_be_input,
  to_be_forward,
  steps, // random access, and no end
  to_read,
  to_read_again, // elements that are not moved as they are read
  to_write
};
template <class Range> constexpr bool has(need what) {
  using reference = std::ranges::range_reference_t<Range>;
  constexpr bool steps = std::ranges::random_access_range<Range>;
  constexpr bool reads = steps && std::ranges::sized_range<Range>;
  switch (what) {
  case need::to_be_input:
    return true;
  case need::to_be_forward:
    return std::ranges::forward_range<Range>;
  case need::steps:
    return steps;
  case need::to_read:
    return reads;
  case need::to_read_again:
    return reads && !std::is_rvalue_reference_v<reference>;
  case need::to_write:
    return reads && std::is_lvalue_reference_v<reference> &&
           !std::is_const_v<std::remove_reference_t<reference>>;
  default:
    return false;
  }
}
// Whether a row is called with two iterators, too, and what is compared afterwards.
enum class form { both, range_alone };
enum class rest { all, front, in_any_order };

// Its iterators are those of no range.
template <class T> struct array {
  T* begin() const { return all.get(); }
  T* end() const { return begin() + 2 * elements; }
  std::unique_ptr<T[]> all = std::make_unique<T[]>(2 * elements);
};
struct number { // a type of no kind's elements
  number(long from = 0) : value(from) {}
  long value;
};
template <class Value> struct output {
  array<Value> values{};
  array<number> numbers{};
  Value sample{};
  output() {
    if constexpr (std::is_same_v<Value, std::string>)
      sample = text_of(5);
  }
};

inline long digest(const std::string& text) {
  return static_cast<long>(std::hash<std::string>{}(text) >> 1);
}
template <class X> long digest(const X& x) {
  if constexpr (requires { x.text; })
    return x.number + digest(x.text);
  else
    return static_cast<long>(x);
}
// A result as a number: how far an iterator is, what a value is.
template <class First, class Out, class Result>
long number_of(const First& first, Out& out, const Result& result) {
  if constexpr (std::is_same_v<First, Result>)
    return static_cast<long>(result - first);
  else if constexpr (std::is_same_v<Result, decltype(out.values.begin())>)
    return static_cast<long>(result - out.values.begin());
  else if constexpr (std::is_same_v<Result, decltype(out.numbers.begin())>)
    return static_cast<long>(result - out.numbers.begin());
  else if constexpr (requires { result.out; })
    return number_of(first, out, result.out);
  else if constexpr (requires { result.min; })
    return digest(result.min) + 3 * digest(result.max);
  else if constexpr (requires { result.fun; })
    return static_cast<long>(result.in - first);
  else if constexpr (requires {
                       { result.begin() } -> std::same_as<First>;
                     })
    return static_cast<long>(result.begin() - first);
  else
    return digest(result);
}

// What a call leaves: its result, what it noted, its outputs, the range.
struct left {
  long answer = 0;
  long notes = 0;
  std::vector<long> outputs{};
  std::vector<long> range{};
  friend bool operator==(const left&, const left&) = default;
};
template <class Row, class F, class Range, class Out, class... In>
left call(const F& f, Range& range, Out& out, In&... in) {
  left all;
  all.answer = elements; // where ours has no result, std's is the end
  noted = 0;
  if constexpr (std::is_void_v<decltype(f(out, in...))>)
    f(out, in...);
  else
    all.answer = number_of(std::ranges::begin(range), out, f(out, in...));
  all.notes = noted;
  for (const auto& each : out.values)
    all.outputs.push_back(digest(each));
  for (const number& each : out.numbers)
    all.outputs.push_back(each.value);
  if constexpr (Row::asks == need::to_write)
    for (const auto& each : range)
      all.range.push_back(digest(each));
  if (Row::leaves == rest::front)
    all.range.resize(static_cast<std::size_t>(all.answer));
  if (Row::leaves == rest::in_any_order)
    std::ranges::sort(all.range);
  return all;
}

template <class Row, class Kind> void check_cell() {
  Kind kind;
  auto&& range = kind.range();
  using range_type = std::remove_reference_t<decltype(range)>;
  using value = std::ranges::range_value_t<range_type>;
  using iterator = std::ranges::iterator_t<range_type>;
  using end = std::ranges::sentinel_t<range_type>;
  using ours = decltype(Row::ours);
  constexpr bool expected = has<range_type>(Row::asks);
  static_assert(std::invocable<ours, output<value>&, range_type&> == expected);
  static_assert(std::invocable<ours, output<value>&, iterator&, end&> ==
                (expected && Row::called == form::both));
  constexpr bool ends = !std::is_same_v<Kind, of_no_end> || Row::asks == need::steps;
  constexpr bool stays = !Row::moves_both || has<range_type>(need::to_read_again);
  if constexpr (expected && ends && stays) {
    std::conditional_t<std::is_same_v<value, bool>, std::deque<value>, std::vector<value>> values;
    Kind same;
    for (int i = 0; auto&& each : same.range()) {
      values.push_back(value(std::forward<decltype(each)>(each)));
      if (++i == elements)
        break;
    }
    output<value> out;
    const left wanted = call<Row>(Row::theirs, values, out, values);
    output<value> own;
    if constexpr (Row::called == form::range_alone || std::is_same_v<Kind, of_objects>) {
      EXPECT_EQ(call<Row>(Row::ours, range, own, range), wanted)
          << typeid(Row).name() << ' ' << typeid(Kind).name();
    } else { // as the call with the range does
      auto first = std::ranges::begin(range);
      auto last = std::ranges::end(range);
      EXPECT_EQ(call<Row>(Row::ours, range, own, first, last), wanted)
          << typeid(Row).name() << ' ' << typeid(Kind).name();
    }
  }
}
template <class Row, class... Kinds> void check_row(kinds<Kinds...>) {
  (check_cell<Row, Kinds>(), ...);
}
template <class... Rows> void check_rows() { (check_row<Rows>(all_kinds{}), ...); }

template <need Asks, form Called = form::both, rest Leaves = rest::all> struct row {
  static constexpr need asks = Asks;
  static constexpr form called = Called;
  static constexpr rest leaves = Leaves;
  static constexpr bool moves_both = false; // what is read as the first range and as the second
};

} // namespace nopal_test

// A call of an algorithm with the range or two iterators, which are `in...`.
#define NOPAL_CALL(...)                                                                            \
  [](auto& out, auto&... in)                                                                       \
    requires requires { __VA_ARGS__; }                                                             \
  {                                                                                                \
    static_cast<void>(out);                                                                        \
    return __VA_ARGS__;                                                                            \
  }
// A row whose algorithm has the same parameters in std::ranges.
#define NOPAL_ALIKE(name, base, ...)                                                               \
  struct name : base {                                                                             \
    static constexpr auto ours = NOPAL_CALL(nopal::__VA_ARGS__);                                   \
    static constexpr auto theirs = NOPAL_CALL(std::ranges::__VA_ARGS__);                           \
  }
