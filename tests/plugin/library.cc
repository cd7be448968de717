// SPDX-License-Identifier: MIT
// A library with a copy of Nopal, and one function that shows its work.
#include "tests/plugin/work.h"

extern "C" __attribute__((visibility("default"))) const calls* PLUGIN_CALLS() {
  return &work::own_calls;
}
