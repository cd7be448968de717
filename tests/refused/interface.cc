// SPDX-License-Identifier: MIT
// Calls of the interface that would not do what they seem to say. Each case is a macro. Behind it
// stands what the compiler must say:
//
// reference: for a T& write std::ref(x)
// reference_with_result: for a T& write std::ref(x)
// member_of_copy: for a T& write std::ref(x)
// not_copied: this cannot be copied: std::move(x), or std::ref(x)
// argument_not_copied: this cannot be copied: std::move(x), or std::ref(x)
// wrong_result: the result cannot be assigned to the first argument
// wrong_argument: the function cannot be called with these arguments
// in_cancel_scope: for a T& write std::ref(x)
// in_serial_elision: for a T& write std::ref(x)
// map_first: combine stands before map, as in std::transform_reduce
// map_first_with_identity: combine stands before map, as in std::transform_reduce
// map_first_while: combine stands before map
// of_two_types: map gives no T, or combine(T, T) none: nopal::identity?
// bool_index: no matching function for call to
#if IN_SERIAL_ELISION
#define NOPAL_SERIAL 1
#endif
#include "nopal/cancel.h"
#include "nopal/find.h"
#include "nopal/loop.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

struct counter {
  void count() & { ++counted; }
  int counted = 0;
};
struct not_copied {
  not_copied() = default;
  not_copied(const not_copied&) = delete;
  void operator()() const {}
};

void increment(int& number) { ++number; }
[[maybe_unused]] int negated(int number) { return -number; }
[[maybe_unused]] long from_both(long& a, int b) { return a++ + b; }

} // namespace

int main() {
  int x = 1;
  counter c;
  const not_copied function;
  [[maybe_unused]] long a = 2;
  [[maybe_unused]] std::string text;
  [[maybe_unused]] const auto double_of = [](int i) { return 2 * i; };
  [[maybe_unused]] const auto some = [](int i) { return std::optional<int>(i); };
  nopal::scope s;
#if REFERENCE || IN_SERIAL_ELISION
  s.fork(increment, x);
#elif REFERENCE_WITH_RESULT
  s.fork(a, from_both, a, 3);
#elif MEMBER_OF_COPY
  s.fork(&counter::count, c);
#elif NOT_COPIED
  s.fork(function);
#elif ARGUMENT_NOT_COPIED
  const auto owned = std::make_unique<int>(1);
  s.fork([](std::unique_ptr<int>) {}, owned);
#elif WRONG_RESULT
  s.fork(c, negated, 3);
#elif WRONG_ARGUMENT
  s.fork(x, negated, text);
#elif IN_CANCEL_SCOPE
  nopal::cancel_scope cancelable;
  cancelable.fork(increment, x);
#elif MAP_FIRST
  nopal::reduce(0, 10, 0, double_of, std::plus<>{});
#elif MAP_FIRST_WITH_IDENTITY
  nopal::reduce(0, 10, nopal::identity{0}, double_of, std::plus<>{}, 4);
#elif MAP_FIRST_WHILE
  nopal::reduce_while(0, 10, 0, some, std::plus<>{}, 4);
#elif OF_TWO_TYPES
  const auto add = [](std::vector<int> all, int number) {
    all.push_back(number);
    return all;
  };
  nopal::reduce(0, 10, std::vector<int>{}, add, double_of);
#elif BOOL_INDEX
  nopal::for_index(false, true, [](bool) {});
#else
  s.fork(increment, std::ref(x));
  s.fork(a, from_both, std::ref(a), 3);
  s.fork(&counter::count, std::ref(c));
  s.fork(std::cref(function));
  nopal::reduce(0, 10, 0, std::plus<>{}, double_of);
  nopal::reduce(0, 10, nopal::identity{0}, std::plus<>{}, double_of, 4);
  nopal::reduce_while(0, 10, 0, std::plus<>{}, some, 4);
#endif
  s.join();
}
