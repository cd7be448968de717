// SPDX-License-Identifier: MIT
// A function of somebody else: compiled as C, without any of our headers, and forking nothing.

long foreign_walk(long first, long last, long (*visit)(long, long, void*), void* context);

// The array makes the frame larger than a page and fills it, so that a stack that was mixed up
// shows in the sum.
long foreign_walk(long first, long last, long (*visit)(long, long, void*), void* context) {
  volatile long here[600];
  long i;
  long wrong = 0;
  for (i = 0; i < 600; ++i)
    here[i] = first ^ i;
  const long found = visit(first, last, context);
  for (i = 0; i < 600; ++i)
    wrong += here[i] != (first ^ i);
  return found + wrong;
}
