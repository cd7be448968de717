// SPDX-License-Identifier: MIT
// A library that uses Nopal inside and shows one function of the name PLUGIN_SUM.
#include <nopal/loop.h>

#include <functional>

extern "C" __attribute__((visibility("default"))) long PLUGIN_SUM(long n);

long PLUGIN_SUM(long n) {
  return nopal::reduce(0L, n, 0L, std::plus<>{}, [](long i) { return i; }, 16);
}
