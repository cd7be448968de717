// SPDX-License-Identifier: MIT
// The columns of the table of ranges and algorithms (range_table.h): ranges as programs have them,
// whose elements are objects, values, objects that refer to others, or bits, with ends of all
// kinds. The key of the element i is i, of a bit whether i is large.
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nopal_test {

inline constexpr int elements = 600;

// On the heap, so that a sanitizer sees what is read too late.
inline std::string text_of(long key) {
  const std::string digits = std::to_string(key);
  return "a text that is longer than its object " + std::string(6 - digits.size(), '0') + digits;
}

// What is read through a zip: two objects of two ranges, or copies of both.
struct couple {
  long number = 0;
  std::string text = text_of(0);
  friend bool operator==(const couple&, const couple&) = default;
  friend auto operator<=>(const couple&, const couple&) = default;
  friend couple operator+(couple x, const couple& y) {
    return {x.number + y.number, std::move(x.text) + y.text};
  }
};
struct coupled {
  long& number;
  std::string& text;
  operator couple() const { return {number, text}; }
  const coupled& operator=(const couple& from) const {
    number = from.number;
    text = from.text;
    return *this;
  }
  friend bool operator==(const coupled& x, const coupled& y) { return couple(x) == couple(y); }
  friend auto operator<=>(const coupled& x, const coupled& y) { return couple(x) <=> couple(y); }
  friend bool operator==(const coupled& x, const couple& y) { return couple(x) == y; }
  friend auto operator<=>(const coupled& x, const couple& y) { return couple(x) <=> y; }
};
// What stands for an object of one range.
struct long_proxy {
  long* at;
  operator long() const { return *at; }
  const long_proxy& operator=(long value) const {
    *at = value;
    return *this;
  }
};

// An iterator with random access of a Source, which has a `value` and reads one of its elements as
// a `reference`, which may be a value.
template <class Source> class reader {
public:
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = typename Source::value;
  using reference = typename Source::reference;
  using difference_type = std::ptrdiff_t;

  reader() = default;
  reader(const Source* of, difference_type at) : of_(of), at_(at) {}

  reference operator*() const { return of_->read(at_); }
  reference operator[](difference_type by) const { return of_->read(at_ + by); }
  reader& operator+=(difference_type by) { return at_ += by, *this; }
  reader& operator-=(difference_type by) { return at_ -= by, *this; }
  reader& operator++() { return *this += 1; }
  reader& operator--() { return *this -= 1; }
  reader operator++(int) { return {of_, at_++}; }
  reader operator--(int) { return {of_, at_--}; }
  friend reader operator+(reader x, difference_type by) { return x += by; }
  friend reader operator+(difference_type by, reader x) { return x += by; }
  friend reader operator-(reader x, difference_type by) { return x -= by; }
  friend difference_type operator-(const reader& x, const reader& y) { return x.at_ - y.at_; }
  friend bool operator==(const reader& x, const reader& y) { return x.at_ == y.at_; }
  friend auto operator<=>(const reader& x, const reader& y) { return x.at_ <=> y.at_; }
  friend value_type iter_move(const reader& x) { return *x; }
  friend void iter_swap(const reader& x, const reader& y) {
    value_type kept = *x;
    if constexpr (requires { *x = *y; }) {
      *x = value_type(*y);
      *y = kept;
    }
  }

private:
  const Source* of_ = nullptr;
  difference_type at_ = 0;
};

// An end that is no iterator and has no distance from one.
struct unsized_end {
  template <class T>
  friend bool operator==(const __gnu_cxx::__normal_iterator<T*, std::vector<T>>& it, unsized_end) {
    return *it == elements;
  }
};

inline std::vector<long> keys() {
  std::vector<long> all(elements);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<long>(i);
  return all;
}
template <class T, class F> std::vector<T> made_by(F f) {
  std::vector<T> all;
  for (const long key : keys())
    all.push_back(f(key));
  return all;
}

// Each kind: `range()`, which lives as long as the kind.
struct of_objects {
  std::vector<long> all = keys();
  auto& range() { return all; }
};
struct of_constants {
  std::vector<long> all = keys();
  const auto& range() { return all; }
};
struct of_iota {
  auto range() { return std::views::iota(0, elements); }
};
struct of_wide_iota { // of a difference of 128 bits
  auto range() { return std::views::iota(0LL, static_cast<long long>(elements)); }
};
__extension__ using integer128 = __int128;
struct of_widest_iota { // of a difference that is a class
  auto range() { return std::views::iota(integer128{0}, integer128{elements}); }
};
struct of_made_texts {
  auto range() { return std::views::iota(0, elements) | std::views::transform(text_of); }
};
struct of_texts_to_move {
  std::vector<std::string> all = made_by<std::string>(text_of);
  auto range() {
    return all |
           std::views::transform([](std::string& x) -> std::string&& { return std::move(x); });
  }
};
struct of_move_iterators {
  std::vector<std::string> all = made_by<std::string>(text_of);
  auto range() {
    return std::ranges::subrange(std::move_iterator(all.begin()), std::move_iterator(all.end()));
  }
};
struct of_couples {
  using value = couple;
  using reference = coupled;
  mutable std::vector<long> numbers = keys();
  mutable std::vector<std::string> texts = made_by<std::string>(text_of);
  coupled read(std::ptrdiff_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return {numbers[at], texts[at]};
  }
  auto range() {
    return std::ranges::subrange(reader<of_couples>(this, 0), reader<of_couples>(this, elements));
  }
};
struct of_proxies {
  using value = long;
  using reference = long_proxy;
  mutable std::vector<long> all = keys();
  long_proxy read(std::ptrdiff_t i) const { return {&all[static_cast<std::size_t>(i)]}; }
  auto range() {
    return std::ranges::subrange(reader<of_proxies>(this, 0), reader<of_proxies>(this, elements));
  }
};
struct of_generated { // with an end that is no iterator
  using value = std::string;
  using reference = std::string;
  std::string read(std::ptrdiff_t i) const { return text_of(i); }
  auto range() {
    const reader<of_generated> first{this, 0};
    return std::ranges::subrange(std::counted_iterator(first, elements), std::default_sentinel);
  }
};
struct of_values_in_objects {
  std::vector<std::pair<int, std::string>> all =
      made_by<std::pair<int, std::string>>([](long key) { return std::pair(1, text_of(key)); });
  auto range() { return all | std::views::elements<1>; }
};
struct of_bits {
  std::vector<bool> all = made_by<bool>([](long key) { return key > elements / 3; });
  auto& range() { return all; }
};
struct of_no_size {
  std::vector<long> all = keys();
  auto range() {
    all.push_back(elements);
    return std::ranges::subrange(all.begin(), unsized_end{});
  }
};
struct of_no_end {
  auto range() { return std::views::iota(0); }
};

template <class... Kinds> struct kinds {};
using all_kinds = kinds<of_objects, of_constants, of_iota, of_wide_iota, of_widest_iota,
                        of_made_texts, of_texts_to_move, of_move_iterators, of_couples, of_proxies,
                        of_generated, of_values_in_objects, of_bits, of_no_size, of_no_end>;

} // namespace nopal_test
