// SPDX-License-Identifier: MIT
// What the tests in C have for GoogleTest, which is C++: a program of cases, each of which ends the
// program where it finds something wrong.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      _Exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

typedef struct test_case {
  const char* name;
  void (*run)(void);
} test_case;

// Runs the cases that the command line names, or all.
static int run_cases(const test_case* cases, int count, int words, char** word) {
  int ran = 0;
  for (int i = 0; i < count; ++i) {
    int asked = words < 2;
    for (int w = 1; w < words; ++w)
      asked |= strcmp(word[w], cases[i].name) == 0;
    if (!asked)
      continue;
    cases[i].run();
    printf("%s\n", cases[i].name);
    ++ran;
  }
  return ran == 0 || (words > 1 && ran != words - 1) ? 2 : 0;
}
