// SPDX-License-Identifier: MIT
// Fork and join.
//
//     long fib(int n) {
//       if (n < 2) return n;
//       nopal::scope s;                // its destructor joins
//       long x;
//       s.fork(x, fib, n - 1);         // may run in parallel with what follows
//       long y = fib(n - 2);
//       s.join();                      // waits for every child
//       return x + y;
//     }
//
// `fork` runs the child now, as a plain call; meanwhile a thief may take the continuation, the rest
// of the caller. If no thief takes it, nothing has happened. Compiled with NOPAL_SERIAL, forks are
// calls and joins do nothing: the serial elision, the meaning of the program. Even then a fork
// copies its function object and its arguments, which plain calls in their place would not.
//
// Rules. A scope is a local variable, and only the function that declares it forks and joins it. A
// lambda is a function of its own, which an optimizing compiler may make one with its caller, so
// that such a fork is right there and a misuse at -O0: declare a scope in the lambda.
// Scopes of one function fork and join like nested blocks, in the reverse order of their
// declaration. Between a scope's declaration and its last join the function does not change the
// size of its frame (alloca). After a fork, a join or a wait (mutex.h) the function may run on
// another thread. Each misuse ends the program with a sentence, at the latest when it would do
// harm.
//
// Serial code in such a function, a base case above all, is best called by `leaf` (leaf.h): it is
// then compiled as if nothing forked.
//
// Exceptions. A join rethrows the exception of a child, the serially first if there are several.
// What the serial elision would not have reached is cancelled (cancel.h): children that were forked
// behind the one that has thrown are not run, or stop; the function itself runs on to its join. An
// exception between fork and join unwinds through the scope, which joins first. `invoke` throws
// exactly the exception of the serial elision.
//
// Paper: fibril-spaa16, section 4.1.
#pragma once

#include "nopal/invoke.h"
#include "nopal/leaf.h"
#include "nopal/scope.h"
