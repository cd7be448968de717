// SPDX-License-Identifier: MIT
// What a program and its libraries, each with a copy of Nopal, call of one another. No type of
// Nopal's is in it: the copies may be of different versions, and of different compilers.
#pragma once

struct calls {
  using function = long (*)(void* context, int number);

  long (*fib)(int n);
  // The sum of function(context, i) for all i below n, each called by a strand of its own.
  long (*sum)(int n, function called, void* context);
  // The same, each called by a fiber that sends its answer through a channel.
  long (*sum_of_fibers)(int n, function called, void* context);
  // The leaves of a binary tree of this depth, of which every other level is forked by `other`.
  long (*leaves)(int depth, const calls* other);
  // Whether a deadline ended a loop without end.
  bool (*deadline_rings)(int after_ms);
  // Throws nopal::cancelled.
  void (*throw_cancelled)();
  // Forks are stolen wherever they can be. To be called first.
  void (*force_steals)(unsigned long seed);
};
