// SPDX-License-Identifier: MIT
// What the programs of the interop matrix share. A case calls a library that calls back; the
// callback forks, and its continuation is stolen while the library's frame is live.
//
//     program            lists the cases, one a line
//     program CASE 2|3   runs one at that level (affine.h) until enough callbacks ended on another
//                        thread: at level 3 so did the callback itself, at level 2 its region did.
//                        Prints counts; exits with 1 if a result is wrong.
#pragma once

#include <atomic>

namespace nopal_interop {

struct foreign_case {
  const char* name;
  bool (*run)(); // a callback, or several, that call work(); true: the result is right
  bool alone;    // one run at a time: the library's lock would keep several workers waiting
};

// What callbacks do: fib(n) in parallel, on the level that was chosen, and before that a fork that
// waits a while for a thief.
long work(int n);
// The same as a plain function, to compare with.
long expected(int n);

int main_of(int count, char** arguments, const foreign_case* cases, int number_of_cases);

template <int N> int main_of(int count, char** arguments, const foreign_case (&cases)[N]) {
  return main_of(count, arguments, cases, N);
}

// For a library that is loaded by another program.
void choose_level(int level);
bool enough();
int callbacks_that_ended_elsewhere();
int callbacks_that_moved();

} // namespace nopal_interop
