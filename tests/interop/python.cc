// SPDX-License-Identifier: MIT
// Functions that python.py loads and calls. One of them calls Python back from its children.
#include "tests/interop/foreign.h"

#include "nopal/loop.h"

extern "C" {

// f(i) for each i, in parallel.
void nopal_interop_for_each(int count, void (*f)(int)) { nopal::for_index(0, count, f, 1); }

long nopal_interop_work(int n) { return nopal_interop::work(n); }
void nopal_interop_choose_level(int level) { nopal_interop::choose_level(level); }
int nopal_interop_enough() { return nopal_interop::enough() ? 1 : 0; }
int nopal_interop_elsewhere() { return nopal_interop::callbacks_that_ended_elsewhere(); }
int nopal_interop_moved() { return nopal_interop::callbacks_that_moved(); }
}
