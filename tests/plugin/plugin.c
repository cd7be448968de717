// SPDX-License-Identifier: MIT
// A library in C that uses Nopal inside and shows one function of the name PLUGIN_SUM.
#include <nopal/nopal.h>

__attribute__((visibility("default"))) long PLUGIN_SUM(long n);

static int add(void* sum, size_t begin, size_t end) {
  long own = 0;
  for (size_t i = begin; i < end; ++i)
    own += (long)i;
  __atomic_add_fetch((long*)sum, own, __ATOMIC_RELAXED);
  return 0;
}

long PLUGIN_SUM(long n) {
  long sum = 0;
  return nopal_for_range(0, (size_t)n, 16, add, &sum) == NOPAL_OK ? sum : -1;
}
