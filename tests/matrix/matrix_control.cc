// SPDX-License-Identifier: MIT
// Matrix programs about where a scope stands: several in one frame, inlined or not, in loops,
// branches and early returns.
#include "matrix.h"

#include <cstddef>

namespace matrix {

namespace {

[[gnu::always_inline]] inline long inlined_pair(long a, long b) {
  tracker alive;
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  alignas(32) long block[4] = {opaque(a), opaque(b), a, b};
  scribble();
  s.join();
  return x + block[0] + block[1];
}

[[gnu::noinline]] long separate_pair(long a, long b) { return inlined_pair(a, b); }

// Every call is the function's own code: an inner scope is constructed on the thief's stack, in a
// frame that lies on another.
template <long (*Pair)(long, long)> void run_shared_frame(const char* name, int round) {
  const long r = opaque(long{round});
  long x = 0;
  nopal::scope outer;
  outer.fork([&x, r] { x = r + fib(kBusy); });
  const long y = Pair(r, 1);
  outer.fork([] { fib(kBusy); });
  const long z = Pair(y, 2);
  long w = 0;
  long v = 0;
  {
    nopal::scope inner;
    inner.fork([&w] { w = fib(kBusy); });
    v = Pair(z, 3);
    nopal::scope innermost;
    innermost.fork([] { fib(kBusy); });
    innermost.join();
    inner.fork([] { fib(kBusy); });
  }
  outer.join();
  expect(x == r + kBusyResult && y == r + 1 + kBusyResult && z == y + 2 + kBusyResult &&
             w == kBusyResult && v == z + 3 + kBusyResult,
         name, "a result is wrong");
}

[[gnu::always_inline]] inline long inlined_tail(long a, int times) {
  long sum = a;
  for (int i = 0; i < times; ++i) {
    nopal::scope s;
    long x = 0;
    s.fork(x, fib, kBusy);
    sum += 1;
    s.join();
    sum += x;
  }
  return sum;
}

void run_loops_of_scopes(const char* name, int round) {
  long outer_sum = 0;
  for (int i = 0; i < 5; ++i) {
    nopal::scope s;
    long x = 0;
    s.fork(x, fib, kBusy);
    if (i == 1)
      continue;
    const long y = inlined_tail(round, 3);
    if (i == 4)
      break;
    s.join();
    outer_sum += x + y;
  }
  expect(outer_sum == 3 * (kBusyResult + round + 3 * (kBusyResult + 1)), name,
         "a loop with scopes lost something");
}

void run_many_forks(const char* name, int round) {
  constexpr std::size_t count = 200;
  long results[count] = {};
  nopal::scope s;
  for (std::size_t i = 0; i < count; ++i) {
    s.fork(results[i], [](long x) { return x * 2; }, long(i) + round);
    if (i % 50 == 49)
      s.join();
  }
  long sum = 0;
  for (const long each : results)
    sum += each;
  expect(sum == 39800 + 400L * round, name, "a child of a loop was lost");
}

[[gnu::noinline]] long in_a_switch(int which) {
  switch (opaque(which)) {
  case 0: {
    nopal::scope s;
    long x = 0;
    s.fork(x, fib, kBusy);
    s.join();
    return x;
  }
  case 1: {
    alignas(64) long x[8] = {};
    nopal::scope s;
    s.fork([&x] { x[7] = 1 + fib(kBusy); });
    scribble();
    s.join();
    return x[7];
  }
  case 2: {
    long x = 0;
    {
      nopal::scope s;
      s.fork([&x] { x += 2; });
    }
    [[fallthrough]];
  }
  case 3: {
    nopal::scope s;
    long x = which;
    s.fork([&x] { x += fib(kBusy); });
    s.join();
    return x;
  }
  default:
    return -1;
  }
}

void run_switch(const char* name, int) {
  for (int i = 0; i < 4; ++i)
    expect(in_a_switch(i) == kBusyResult + i, name, "a case's result is wrong");
  expect(in_a_switch(9) == -1, name, "the default's result is wrong");
}

// The scope is declared where half of the calls never come: the frame is set up late, if at all.
[[gnu::noinline]] long late_scope(long depth, tracker* caller) {
  if (depth == 0)
    return caller == nullptr ? 0 : 1;
  tracker alive;
  if (depth % 2 == 1)
    return late_scope(depth - 1, &alive) + 1;
  long x = 0;
  nopal::scope s;
  s.fork(x, late_scope, depth - 1, &alive);
  const long y = late_scope(depth - 1, caller);
  if (y % 3 == 0)
    return y; // the destructor joins
  s.join();
  return x + y;
}

[[gnu::noinline]] long late_scope_serially(long depth, bool caller) {
  if (depth == 0)
    return caller ? 1 : 0;
  if (depth % 2 == 1)
    return late_scope_serially(depth - 1, true) + 1;
  const long x = late_scope_serially(depth - 1, true);
  const long y = late_scope_serially(depth - 1, caller);
  return y % 3 == 0 ? y : x + y;
}

void run_late_scope(const char* name, int round) {
  expect(late_scope(12 + round, nullptr) == late_scope_serially(12 + round, false), name,
         "the result is wrong");
}

void run_jumps(const char* name, int round) {
  int rounds = 0;
  long sum = 0;
again: {
  tracker alive;
  nopal::scope s;
  s.fork([&sum] { sum += fib(kBusy); });
  scribble();
  if (++rounds < 4 + round)
    goto again; // leaves the scope: it joins
}
  expect(sum == (4 + round) * kBusyResult, name, "a child was lost at a jump");
}

// Children that fork and end on another thread than they began on, between calls of their parent.
struct node {
  node* left;
  node* right;
  long value;
};

long sum_tree(const node* at) {
  if (at == nullptr)
    return 0;
  nopal::scope left;
  long x = 0;
  left.fork(x, sum_tree, at->left);
  nopal::scope right;
  long y = 0;
  right.fork(y, sum_tree, at->right);
  const long own = opaque(at->value);
  right.join();
  left.join();
  return x + y + own;
}

void run_two_scopes(const char* name, int round) {
  node nodes[255];
  for (long i = 0; i < 255; ++i)
    nodes[i] = {2 * i + 1 < 255 ? &nodes[2 * i + 1] : nullptr,
                2 * i + 2 < 255 ? &nodes[2 * i + 2] : nullptr, i + round};
  expect(sum_tree(nodes) == 32385 + 255L * round, name, "the tree's sum is wrong");
}

} // namespace

const program control_programs[] = {
    {"shared_frame_inlined", run_shared_frame<inlined_pair>},
    {"shared_frame_separate", run_shared_frame<separate_pair>},
    {"loops_of_scopes", run_loops_of_scopes},
    {"many_forks", run_many_forks},
    {"switch", run_switch},
    {"late_scope", run_late_scope},
    {"jumps", run_jumps},
    {"two_scopes", run_two_scopes},
    {nullptr, nullptr},
};

} // namespace matrix
