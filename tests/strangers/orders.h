// SPDX-License-Identifier: MIT
// What tests of hostile comparisons share: elements that are known by a number that no comparison
// sees, comparisons that are no order, and who is there afterwards.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nopal_test {

// A key, and the number. Moved-from elements have the number -1.
struct record {
  double key = 0;
  int number = -1;
};
struct name {
  name() = default;
  name(int given, int k) : key(k), number(given), text("a name that lies on the heap") {}
  name(const name&) = default;
  name& operator=(const name&) = default;
  name(name&& other) noexcept
      : key(other.key), number(std::exchange(other.number, -1)), text(std::move(other.text)) {}
  name& operator=(name&& other) noexcept {
    key = other.key;
    number = std::exchange(other.number, -1);
    text = std::move(other.text);
    return *this;
  }
  double key = 0;
  int number = -1;
  std::string text;
};
struct owner { // moves only
  double key = 0;
  std::unique_ptr<int> held;
};

inline int number_of(double x) { return std::isnan(x) ? 0 : static_cast<int>(x); } // its own key
inline int number_of(const owner& x) { return x.held == nullptr ? -1 : *x.held; }
template <class T> int number_of(const T& x) { return x.number; }
inline double key_of(double x) { return x; }
template <class T> double key_of(const T& x) { return x.key; }

template <class T> T made(int number, int key) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(number);
  else if constexpr (std::is_same_v<T, owner>)
    return {static_cast<double>(key), std::make_unique<int>(number)};
  else if constexpr (std::is_same_v<T, name>)
    return {number, key};
  else
    return {static_cast<double>(key), number};
}

// Numbers from `first` on, in any order, and keys that repeat.
template <class T, class Container = std::vector<T>> Container elements(int count, int first = 0) {
  std::mt19937 random(static_cast<unsigned>(count + first));
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  std::shuffle(numbers.begin(), numbers.end(), random);
  Container all;
  for (const int number : numbers)
    all.push_back(
        made<T>(number, static_cast<int>(random() % static_cast<unsigned>(count / 3 + 1))));
  return all;
}
// One key is no number. Of plain doubles it takes the place of 0.
template <class T, class Container> void put_nan_into(Container& all) {
  for (T& each : all)
    if (number_of(each) == 0) {
      if constexpr (std::is_same_v<T, double>)
        each = std::numeric_limits<double>::quiet_NaN();
      else
        each.key = std::numeric_limits<double>::quiet_NaN();
      return;
    }
}

inline bool coin() {
  static std::atomic<std::uint32_t> state{12345};
  std::uint32_t x = state.fetch_add(0x9e3779b9, std::memory_order_relaxed);
  x = (x ^ (x >> 16)) * 0x7feb352d;
  return ((x ^ (x >> 15)) & 1) != 0;
}

enum class answers { by_key, random, always, never, or_equal, in_a_circle, by_address, hashed };
inline constexpr answers all_answers[] = {
    answers::by_key,   answers::random,      answers::always,     answers::never,
    answers::or_equal, answers::in_a_circle, answers::by_address, answers::hashed};

struct hostile {
  answers how;

  template <class T> bool operator()(const T& x, const T& y) const {
    const double a = key_of(x);
    const double b = key_of(y);
    switch (how) {
    case answers::by_key: // an order, but for NaN
      return a < b;
    case answers::random:
      return coin();
    case answers::always:
      return true;
    case answers::never:
      return false;
    case answers::or_equal:
      return a <= b;
    case answers::in_a_circle: // rock, paper, scissors
      return std::isfinite(a - b) && (static_cast<int>(a - b) + 3'000'000) % 3 == 1;
    case answers::by_address:
      return &x < &y;
    case answers::hashed: // always the same, and no order
      return ((static_cast<unsigned>(number_of(x)) * 2654435761u) ^
              (static_cast<unsigned>(number_of(y)) * 40503u)) &
             4;
    }
    return false;
  }
};

// How often each number below `given` is there. False: another one is.
template <class It> bool count_into(std::vector<int>& times, It first, It last) {
  for (; first != last; ++first) {
    const int number = number_of(*first);
    if (number < 0 || static_cast<std::size_t>(number) >= times.size())
      return false;
    ++times[static_cast<std::size_t>(number)];
  }
  return true;
}
template <class Container> bool all_there(const Container& all, std::size_t given) {
  std::vector<int> times(given);
  return all.size() == given && count_into(times, all.begin(), all.end()) &&
         std::ranges::count(times, 1) == static_cast<std::ptrdiff_t>(given);
}
template <class It> bool none_twice(It first, It last, std::size_t given) {
  std::vector<int> times(given);
  return count_into(times, first, last) &&
         std::ranges::none_of(times, [](int each) { return each > 1; });
}

} // namespace nopal_test
