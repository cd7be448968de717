// SPDX-License-Identifier: MIT
// What the programs of the compiler matrix share: a check, values that no compiler can foresee, and
// work to do in parallel.
//
// Each program is an ordinary function that forks. It is compiled by every compiler and with every
// set of flags of the matrix, and must compute what its serial elision computes, whether or not a
// thief takes its continuations.
#pragma once

#include <nopal/fork.h>

#include <atomic>

namespace matrix {

// Counts and reports a program's wrong result; the process then ends with failure.
void expect(bool holds, const char* program, const char* what) noexcept;

// The value itself, from which an optimiser learns nothing.
template <class T> [[gnu::always_inline]] inline T opaque(T value) {
  asm volatile("" : "+m"(value));
  return value;
}

// How many trackers are alive: 0 when all programs are done, or a destructor was lost.
inline std::atomic<long> tracked{0};

struct tracker {
  tracker() noexcept { tracked.fetch_add(1); }
  tracker(const tracker&) noexcept : tracker() {}
  tracker& operator=(const tracker&) = default;
  ~tracker() { tracked.fetch_sub(1); }
};

// Forks by itself: a child that keeps its worker busy, and gives thieves more to take.
long fib(int n);
long serial_fib(int n);

// Overwrites the stack below the caller and the vector registers.
void scribble() noexcept;

inline constexpr int kBusy = 4;
inline constexpr long kBusyResult = 3; // of fib

struct program {
  const char* name;
  void (*run)(const char* name, int round);
};

// Each source file has a list of programs. A list ends with a program without a name.
extern const program frame_programs[];
extern const program register_programs[];
extern const program call_programs[];
extern const program control_programs[];
extern const program coroutine_programs[];
extern const program exception_programs[];
extern const program avx512_programs[];

} // namespace matrix
