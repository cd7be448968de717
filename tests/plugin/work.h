// SPDX-License-Identifier: MIT
// The work of calls.h. The program and the libraries compile this same header. The functions are
// each file's own (members are hidden: another file's would use another copy's channel), but the
// types that Nopal's templates are given have the same names in all.
#pragma once

#include "tests/plugin/calls.h"

#include <nopal/cancel.h>
#include <nopal/channel.h>
#include <nopal/fiber.h>
#include <nopal/fork.h>
#include <nopal/loop.h>
#include <nopal/mutex.h>
#include <nopal/vproc/settings.h>

#include <chrono>
#include <functional>
#include <mutex>

namespace work {

struct called_with {
  calls::function function;
  void* context;

  [[gnu::visibility("hidden")]] long operator()(int i) const { return function(context, i); }
};

struct sends {
  nopal::channel<long>* to;
  nopal::mutex* in_turn;
  int* sent;
  called_with called;
  int i;

  [[gnu::visibility("hidden")]] void operator()() const {
    to->send(called(i));
    const std::lock_guard guard{*in_turn};
    *sent += 1;
  }
};

namespace {

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x = 0;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

long sum(int n, calls::function called, void* context) {
  return nopal::reduce(0, n, 0L, std::plus<>{}, called_with{called, context}, 1);
}

long sum_of_fibers(int n, calls::function called, void* context) {
  nopal::channel<long> answers;
  nopal::mutex in_turn;
  int sent = 0;
  const long all = nopal::run([&] {
    for (int i = 0; i < n; ++i)
      nopal::spawn(sends{&answers, &in_turn, &sent, {called, context}, i});
    long so_far = 0;
    for (int i = 0; i < n; ++i)
      so_far += answers.recv();
    return so_far;
  });
  return sent == n ? all : -1;
}

extern const calls own_calls;

long leaves(int depth, const calls* other) {
  if (depth == 0)
    return 1;
  nopal::scope s;
  long left = 0;
  s.fork(left, other->leaves, depth - 1, &own_calls);
  const long right = other->leaves(depth - 1, &own_calls);
  s.join();
  return left + right;
}

bool deadline_rings(int after_ms) {
  nopal::cancel_scope s{std::chrono::milliseconds{after_ms}};
  s.fork([] {
    for (;;)
      fib(5);
  });
  return !s.try_join();
}

void throw_cancelled() {
  nopal::cancel_scope s;
  s.cancel();
  s.fork([] {});
  s.join();
}

void force_steals(unsigned long seed) { nopal::vproc::force_steals(seed); }

const calls own_calls{fib,         sum, sum_of_fibers, leaves, deadline_rings, throw_cancelled,
                      force_steals};

} // namespace
} // namespace work
