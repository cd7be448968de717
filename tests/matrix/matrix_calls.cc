// SPDX-License-Identifier: MIT
// Matrix programs about calls made between fork and join: arguments and results on the stack, tail
// calls, and the closures of children.
#include "matrix.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace matrix {

namespace {

struct big {
  std::array<long, 25> values;
};

struct alignas(64) big_aligned {
  std::array<long, 24> values;
};

[[gnu::noinline]] long eleven(long a, long b, long c, long d, long e, long f, long g, long h,
                              long i, long j, long k) {
  scribble();
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k;
}

[[gnu::noinline]] double many_kinds(int a, double b, char c, float d, long e, double f, short g,
                                    double h, long i, double j, long k, double l, double m,
                                    double n, double o, double p, unsigned q) {
  scribble();
  return a + b + c + double(d) + double(e) + f + g + h + double(i) + j + double(k) + l + m + n + o +
         p + q;
}

[[gnu::noinline]] big doubled(int before, big x, int after) {
  scribble();
  for (long& each : x.values)
    each = 2 * each + before + after;
  return x;
}

[[gnu::noinline]] long sum_of(big_aligned x, long first, big y) {
  scribble();
  long sum = reinterpret_cast<std::size_t>(opaque(&x)) % 64 == 0 ? first : -1;
  for (const long each : x.values)
    sum += each;
  for (const long each : y.values)
    sum += each;
  return sum;
}

[[gnu::noinline]] double variadic(int count, ...) {
  scribble();
  va_list arguments;
  va_start(arguments, count);
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += va_arg(arguments, int);
    sum += va_arg(arguments, double);
  }
  va_end(arguments);
  return sum;
}

big sequence(long from) {
  big result;
  for (std::size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = opaque(from + static_cast<long>(i));
  return result;
}

long total(const big& numbers) {
  long sum = 0;
  for (const long each : numbers.values)
    sum += each;
  return sum;
}

// The outgoing-argument area of a stolen frame lies on the thief's stack.
void run_many_arguments(const char* name, int round) {
  const long r = opaque(long{round});
  long child = 0;
  nopal::scope s;
  const long before = eleven(r, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
  s.fork(child, eleven, r, r, r, r, r, r, r, r, r, r, r);
  const long between = eleven(1, r, 2, r, 3, r, 4, r, 5, r, 6);
  s.fork([] { fib(kBusy); });
  const double kinds = many_kinds(1, 2, 3, 4, r, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17);
  s.join();
  const long after = eleven(r, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
  expect(before == r + 65 && after == before, name, "a call outside fork and join went wrong");
  expect(child == 66 * r, name, "a child with eleven arguments went wrong");
  expect(between == 161 + 30 * r, name, "a call in the continuation went wrong");
  expect(kinds == 148 + double(r), name, "a call with arguments of many kinds went wrong");
}

void run_structs_by_value(const char* name, int round) {
  const long r = opaque(long{round});
  const big first = sequence(r);
  big_aligned aligned;
  for (std::size_t i = 0; i < aligned.values.size(); ++i)
    aligned.values[i] = opaque(1L);
  big child;
  nopal::scope s;
  s.fork(child, doubled, 1, first, 2);
  const big second = doubled(3, first, 4);
  const long sum = sum_of(aligned, r, second);
  s.fork([first, &child2 = aligned] { child2.values[0] = total(first); });
  const big third = doubled(5, second, 6);
  s.join();
  const long base = 25 * r + 300;
  expect(total(first) == base && total(child) == 2 * base + 75, name, "a child's struct is wrong");
  expect(total(second) == 2 * base + 175 && sum == r + 24 + 2 * base + 175, name,
         "a struct passed in the continuation is wrong");
  expect(total(third) == 2 * total(second) + 275 && aligned.values[0] == base, name,
         "a struct passed after the second fork is wrong");
}

// The caller's result lies behind a hidden pointer, and a child writes into it.
[[gnu::noinline]] big by_hidden_pointer(long from, int depth) {
  big result = sequence(from);
  nopal::scope s;
  s.fork([&result] { result.values[0] += fib(kBusy); });
  if (depth > 0)
    result.values[1] = total(by_hidden_pointer(from, depth - 1));
  result.values[2] = 0;
  s.join();
  return result;
}

void run_hidden_pointer(const char* name, int round) {
  big x;
  nopal::scope s;
  s.fork(x, by_hidden_pointer, long{round}, 1);
  const big y = by_hidden_pointer(round, 2);
  s.join();
  const long r = round;
  long want = 25 * r + 300 - (r + 2) + kBusyResult;
  want = want - (r + 1) + want;
  expect(total(x) == want, name, "the child's result is wrong");
  want = want + 25 * r + 300 - 2 * r - 3 + kBusyResult;
  expect(total(y) == want, name, "the continuation's result is wrong");
}

void run_variadic(const char* name, int round) {
  const double r = opaque(double(round));
  double child = 0;
  nopal::scope s;
  s.fork([&child, r] { child = variadic(2, 1, r, 2, 1.5); });
  const double few = variadic(1, 3, r);
  s.fork([] { fib(kBusy); });
  const double many = variadic(6, 1, r, 2, r, 3, r, 4, r, 5, r, 6, r);
  s.join();
  expect(child == r + 4.5 && few == r + 3 && many == 6 * r + 21, name, "a variadic call is wrong");
}

[[gnu::noinline]] long seven(long a, long b, long c, long d, long e, long f, long g) {
  return a + b + c + d + e + f + opaque(g);
}

[[gnu::noinline]] long nine(long a, long b, long c, long d, long e, long f, long g, long h,
                            long i) {
  return seven(a, b, c, d, e, f, g) + opaque(h) + i;
}

// Compilers push such arguments, and may leave them there for a while: the stack pointer is not the
// same at the scope's construction, at the forks and at the join. Straight-line code on purpose.
[[gnu::noinline]] long pushes(long a) {
  long x = 0;
  const long b = seven(a, 1, 1, 1, 1, 1, 1);
  nopal::scope s;
  const long c = nine(b, 1, 1, 1, 1, 1, 1, 1, 1);
  s.fork(x, fib, kBusy);
  const long d = seven(c, 1, 1, 1, 1, 1, 1);
  s.fork([] { fib(kBusy); });
  const long e = nine(d, 1, 1, 1, 1, 1, 1, 1, 1);
  s.join();
  return seven(e, x, 0, 0, 0, 0, 0);
}

[[gnu::noinline]] long pushes_first(long a) {
  long x = 0;
  long y = 0;
  nopal::scope s;
  s.fork(x, seven, a, 1L, 1L, 1L, 1L, 1L, 1L);
  const long b = seven(a, seven(a, 0, 0, 0, 0, 0, 0), 0, 0, 0, 0, nine(a, 0, 0, 0, 0, 0, 0, 0, 0));
  s.fork(y, fib, kBusy);
  s.join();
  return nine(x, y, b, 0, 0, 0, 0, 0, 0);
}

void run_pushes(const char* name, int round) {
  const long r = opaque(long{round});
  expect(pushes(r) == r + 28 + kBusyResult, name, "an argument on the stack is wrong");
  expect(pushes_first(r) == 4 * r + 6 + kBusyResult, name, "an argument on the stack is wrong");
  const big_aligned wide = {{r}};
  const big narrow = {{r}};
  long x = 0;
  nopal::scope s;
  const long before = sum_of(wide, 0, narrow);
  s.fork(x, fib, kBusy);
  const long between = sum_of(wide, 1, narrow);
  s.join();
  const long after = sum_of(wide, 2, narrow);
  expect(before == 2 * r && between == 2 * r + 1 && after == 2 * r + 2 && x == kBusyResult, name,
         "a struct on the stack is wrong");
}

// The function's own arguments lie on the stack of its caller.
[[gnu::noinline]] long own_arguments(long a, long b, long c, long d, long e, long f, long g, long h,
                                     big i, double j) {
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  scribble();
  const long sum = a + b + c + d + e + f + g + h + total(i) + long(j);
  g += 1;
  i.values[3] += 1;
  s.fork([&h] { h += 5; });
  const long again = eleven(a, b, c, d, e, f, g, 0, i.values[3], 0, 0);
  s.join();
  return sum + again + h + x;
}

void run_own_arguments(const char* name, int round) {
  const long r = opaque(long{round});
  const long got = own_arguments(r, 1, 2, 3, 4, 5, 6, 7, sequence(0), 8.0);
  const long want = (r + 28 + 300 + 8) + (r + 2 + 6 + 12 + 20 + 30 + 49 + 9 * 4) + 12 + kBusyResult;
  expect(got == want, name, "an argument on the caller's stack is wrong");
}

[[gnu::noinline]] long tail_target(long a, long b, long c, long d, long e, long f, long g) {
  return a + b + c + d + e + f + g;
}

[[gnu::noinline]] long tail_call(long a, long b, long c, long d, long e, long f, long g) {
  {
    nopal::scope s;
    s.fork([] { fib(kBusy); });
    a += b;
    s.join();
  }
  return tail_target(g, f, e, d, c, b, a);
}

// A fork, or the destructor's join, is the last thing the function does.
[[gnu::noinline]] void fork_is_last(long* to) {
  nopal::scope s;
  s.fork([to] { to[0] = fib(kBusy); });
  s.fork([to] { to[1] = fib(kBusy); });
}

[[gnu::noinline]] void join_is_last(long* to) {
  nopal::scope s;
  s.fork([to] { to[0] += fib(kBusy); });
  to[1] += 1;
  s.join();
}

void run_tail_positions(const char* name, int round) {
  const long r = opaque(long{round});
  long x = 0;
  long to[2] = {};
  nopal::scope s;
  s.fork(x, tail_call, r, 1, 2, 3, 4, 5, 6);
  const long y = tail_call(r, 2, 3, 4, 5, 6, 7);
  fork_is_last(to);
  join_is_last(to);
  s.join();
  expect(x == r + 22 && y == r + 29, name, "a tail call is wrong");
  expect(to[0] == 2 * kBusyResult && to[1] == kBusyResult + 1, name, "a child was lost");
}

struct accumulator {
  long sum = 0;
  void add(long what) { sum += what; }
  long plus(long what) const { return sum + what; }
};

void run_closures(const char* name, int round) {
  const long r = opaque(long{round});
  auto owned = std::make_unique<long>(r);
  std::vector<long> copied(10, r);
  std::string text(40, 'x');
  const std::function<long(long)> erased = [copied, alive = tracker()](long x) {
    return x + copied[9];
  };
  accumulator sum;
  long results[4] = {};
  long by_member = 0;
  tracker captured;
  {
    nopal::scope s;
    s.fork([own = std::move(owned), &results] { results[0] = *own + 1; });
    s.fork([copied, captured, &results] { results[1] = copied[0] + long(copied.size()); });
    copied.assign(10, -1);
    s.fork([text, &results] { results[2] = long(text.size()); });
    text.clear();
    s.fork(results[3], erased, 5L);
    s.fork([&sum, r] { sum.add(r); });
    s.join();
    s.fork(by_member, &accumulator::plus, sum, 3L);
    sum.sum = -100;
  }
  expect(results[0] == r + 1 && results[1] == r + 10 && results[2] == 40, name,
         "a closure's copy is wrong");
  expect(results[3] == r + 5 && by_member == r + 3, name, "a callable's result is wrong");
}

void sort(int* first, int* last) {
  if (last - first < 16) {
    std::sort(first, last);
    return;
  }
  const int pivot = first[(last - first) / 2];
  int* left = std::partition(first, last, [pivot](int x) { return x < pivot; });
  int* right = std::partition(left, last, [pivot](int x) { return x == pivot; });
  nopal::scope s;
  s.fork([=] { sort(first, left); });
  sort(right, last);
}

void run_sort(const char* name, int round) {
  std::vector<int> values(3000);
  unsigned random = static_cast<unsigned>(round) + 1;
  for (int& each : values) {
    random = random * 1664525U + 1013904223U;
    each = static_cast<int>(random >> 12);
  }
  std::vector<int> want = values;
  std::sort(want.begin(), want.end());
  sort(values.data(), values.data() + values.size());
  expect(values == want, name, "the numbers are not in order");
}

void run_fib(const char* name, int round) {
  expect(fib(14 + round) == serial_fib(14 + round), name, "the result is wrong");
}

void run_invoke(const char* name, int round) {
  const auto [x, y, z] = nopal::invoke([round] { return sequence(round); },
                                       [] { return fib(kBusy); }, [] { return std::string("z"); });
  expect(total(x) == 25L * round + 300 && y == kBusyResult && z == "z", name,
         "a result of invoke is wrong");
}

} // namespace

const program call_programs[] = {
    {"many_arguments", run_many_arguments},
    {"structs_by_value", run_structs_by_value},
    {"hidden_pointer", run_hidden_pointer},
    {"variadic", run_variadic},
    {"pushes", run_pushes},
    {"own_arguments", run_own_arguments},
    {"tail_positions", run_tail_positions},
    {"closures", run_closures},
    {"sort", run_sort},
    {"fib", run_fib},
    {"invoke", run_invoke},
    {nullptr, nullptr},
};

} // namespace matrix
