// SPDX-License-Identifier: MIT
// What the programs in C share.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define CHECK(holds)                                                                               \
  ((holds) ? (void)0 : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #holds), exit(1)))

#if defined(__cplusplus)
extern "C"
#endif
    void
    force_steals(unsigned long seed); // forced.cc

// A program's arguments are the seeds of forced steals; without any none are forced.
static inline void force_steals_if(int count, char** words) {
  if (count > 1)
    force_steals(strtoul(words[1], 0, 10));
}
