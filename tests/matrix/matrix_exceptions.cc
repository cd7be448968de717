// SPDX-License-Identifier: MIT
// Matrix programs about exceptions: from children, from continuations, in landing pads and in
// handlers, stolen or not.
#include "matrix.h"

#include <cstddef>
#include <exception>

namespace matrix {

namespace {

struct failure {
  long code;
  tracker alive = {};
};

[[noreturn, gnu::noinline]] void fail(long code) {
  scribble();
  throw failure{opaque(code)};
}

long failing(long code) {
  tracker alive;
  fib(kBusy);
  fail(code);
}

long harmless(long n) {
  tracker alive;
  return n + 0 * fib(kBusy);
}

// The code of the exception that leaves `f`; -1 if none does.
template <class F> long caught_from(F f) {
  try {
    f();
  } catch (const failure& what) {
    return what.code;
  }
  return -1;
}

[[gnu::noinline]] void child_throws(long code) {
  tracker before;
  alignas(64) tracker block[4];
  long x = 0;
  nopal::scope s;
  s.fork(x, failing, code);
  tracker between;
  scribble();
  s.join();
  expect(false, "child", "the join did not throw");
}

[[gnu::noinline]] void continuation_throws(long code) {
  tracker before;
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  alignas(64) tracker block[4];
  fail(code);
}

// Both throw: the child's exception gives way, since its scope is being unwound already.
[[gnu::noinline]] void both_throw(long code) {
  tracker before;
  long x = 0;
  nopal::scope s;
  s.fork(x, failing, code + 1000);
  tracker between;
  fail(code);
}

// Nobody joins but the destructor, and nothing else is being thrown.
[[gnu::noinline]] void destructor_throws(long code) {
  tracker before;
  long x = 0;
  nopal::scope s;
  s.fork(x, failing, code);
  tracker between;
}

void run_simple(const char* name, int round) {
  const long r = opaque(long{round});
  expect(caught_from([r] { child_throws(r); }) == r, name, "the child's exception was lost");
  expect(caught_from([r] { continuation_throws(r); }) == r, name,
         "the continuation's exception was lost");
  const long either = caught_from([r] { both_throw(r); });
  expect(either == r || either == r + 1000, name, "both exceptions were lost");
  expect(caught_from([r] { destructor_throws(r); }) == r, name,
         "the exception was lost in the destructor");
}

long throwing_tree(int depth, int fails_at) {
  tracker alive;
  if (depth == fails_at)
    fail(depth);
  if (depth == 0)
    return 1;
  nopal::scope s;
  long x = 0;
  s.fork(x, throwing_tree, depth - 1, fails_at);
  tracker between;
  const long y = throwing_tree(depth - 2 < 0 ? 0 : depth - 2, fails_at);
  s.join();
  return x + y;
}

void run_tree(const char* name, int round) {
  for (int at = 0; at < 3; ++at)
    expect(caught_from([at] { throwing_tree(8, at); }) == at, name, "an exception was lost");
  expect(throwing_tree(8 + round % 2, -1) > 0, name, "an exception came from nowhere");
}

// Forks in a function that is entered while an exception unwinds its caller's frame.
struct forks_at_end {
  long* to;
  explicit forks_at_end(long* result) : to{result} {}
  forks_at_end(const forks_at_end&) = delete;
  forks_at_end& operator=(const forks_at_end&) = delete;
  ~forks_at_end() {
    tracker alive;
    long x = 0;
    nopal::scope s;
    s.fork(x, fib, kBusy);
    const long y = fib(kBusy);
    s.join();
    *to += x + y;
  }
};

[[gnu::noinline]] void unwound_with_forks(long code, long* to) {
  const forks_at_end outer{to};
  nopal::scope s;
  s.fork([] { fib(kBusy); });
  const forks_at_end inner{to};
  fail(code);
}

void run_landing_pads(const char* name, int round) {
  long sum = 0;
  expect(caught_from([&sum, round] { unwound_with_forks(round, &sum); }) == round, name,
         "the exception was lost");
  expect(sum == 4 * kBusyResult, name, "a destructor's forks were lost");
}

// The handler forks while its exception is alive, on whatever thread it goes on.
[[gnu::noinline]] long fork_in_handler(long code) {
  long x = 0;
  try {
    fail(code);
  } catch (const failure& what) {
    tracker alive;
    nopal::scope s;
    s.fork(x, fib, kBusy);
    scribble();
    const long y = fib(kBusy);
    s.join();
    x += what.code + y - kBusyResult;
  }
  return x;
}

void run_handler(const char* name, int round) {
  expect(fork_in_handler(round) == kBusyResult + round, name, "the handler's result is wrong");
}

// `throw;` after the join, and between fork and join.
[[gnu::noinline]] void rethrow_after_join(long code) {
  try {
    fail(code);
  } catch (const failure&) {
    nopal::scope s;
    s.fork([] { fib(kBusy); });
    scribble();
    s.join();
    throw;
  }
}

[[gnu::noinline]] void rethrow_before_join(long code) {
  try {
    fail(code);
  } catch (const failure&) {
    nopal::scope s;
    s.fork([] { fib(kBusy); });
    scribble();
    throw;
  }
}

void run_rethrow(const char* name, int round) {
  expect(caught_from([round] { rethrow_after_join(round); }) == round, name,
         "the exception rethrown after the join was lost");
  expect(caught_from([round] { rethrow_before_join(round); }) == round, name,
         "the exception rethrown before the join was lost");
}

// A child's handler changes nothing for its parent, and leaves no exception behind.
void run_child_handles(const char* name, int round) {
  long x = 0;
  long y = 0;
  {
    nopal::scope s;
    s.fork([&x, round] { x = caught_from([round] { fail(round); }) + fib(kBusy); });
    y = caught_from([round] { child_throws(round + 1); });
    s.fork([] { expect(std::uncaught_exceptions() == 0, "child", "an exception is alive"); });
  }
  expect(x == round + kBusyResult && y == round + 1, name, "a handler's result is wrong");
  expect(std::uncaught_exceptions() == 0 && std::current_exception() == nullptr, name,
         "an exception is alive");
}

// Scopes in try and catch bodies of one function, one after another.
void run_bodies(const char* name, int) {
  long sum = 0;
  for (long i = 0; i < 4; ++i) {
    try {
      tracker alive;
      nopal::scope s;
      long x = 0;
      s.fork(x, i % 2 == 0 ? failing : harmless, i);
      sum += 1;
      s.join();
      sum += x;
    } catch (const failure& what) {
      nopal::scope s;
      s.fork([&sum] { sum += fib(kBusy); });
      s.join();
      sum += 100 * what.code;
    }
  }
  expect(sum == 4 + 1 + 3 + 2 * kBusyResult + 200, name, "a body was lost");
}

void run_many_failures(const char* name, int round) {
  long caught = 0;
  for (int i = 0; i < 5; ++i)
    caught += caught_from([round, i] {
      long x[6] = {};
      nopal::scope s;
      for (long& each : x)
        s.fork(each, failing, round * 10 + i);
      s.join();
    });
  expect(caught == 50 * round + 10, name, "an exception is not a child's");
}

// In a frame of dynamic size compilers leave the stack pointer where it was when the exception was
// thrown: a fork then calls from below where its scope was constructed.
struct by_value {
  long words[6];
};

[[gnu::noinline]] long fails_if(by_value value, long code) {
  if (opaque(code) != 0)
    throw failure{code};
  return value.words[3];
}

[[gnu::noinline]] long first_of(const char* text, long code) {
  return fails_if(by_value{{0, 0, 0, text[0], 0, 0}}, code);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wvla"
inline long through_an_array(long size, long code) {
  char text[opaque(size)];
  text[0] = 3;
  return first_of(text, code);
}
#pragma GCC diagnostic pop

[[gnu::noinline]] long forks_after_inlined_array(long code) {
  long x = 0;
  long sum = 0;
  nopal::scope s;
  try {
    sum += through_an_array(40 + code, code);
  } catch (const failure& what) {
    sum += 10 * what.code;
  }
  s.fork(x, fib, kBusy);
  scribble();
  s.join();
  return sum + x;
}

[[gnu::noinline]] long forks_after_argument_by_value(long code) {
  auto* const below = static_cast<char*>(__builtin_alloca(static_cast<std::size_t>(opaque(50L))));
  below[0] = 3;
  long x = 0;
  long sum = 0;
  nopal::scope s;
  try {
    sum += fails_if(by_value{{0, 0, 0, below[0], 0, 0}}, code);
  } catch (const failure& what) {
    sum += 10 * what.code;
  }
  s.fork(x, fib, kBusy);
  scribble();
  s.join();
  return sum + x;
}

void run_dynamic_frames(const char* name, int) {
  for (long code = 0; code < 3; ++code) {
    const long expected = kBusyResult + (code == 0 ? 3 : 10 * code);
    expect(forks_after_inlined_array(code) == expected, name, "a fork lost its way");
    expect(forks_after_argument_by_value(code) == expected, name, "a fork lost its frame");
  }
}

} // namespace

const program exception_programs[] = {
    {"throw_simple", run_simple},
    {"throw_tree", run_tree},
    {"throw_landing_pads", run_landing_pads},
    {"throw_handler", run_handler},
    {"throw_rethrow", run_rethrow},
    {"throw_child_handles", run_child_handles},
    {"throw_bodies", run_bodies},
    {"throw_many", run_many_failures},
    {"throw_dynamic_frames", run_dynamic_frames},
    {nullptr, nullptr},
};

} // namespace matrix
