// SPDX-License-Identifier: MIT
// Programs in C make steals frequent by this.
#include "nopal/vproc/settings.h"

extern "C" void force_steals(unsigned long seed) { nopal::vproc::force_steals(seed); }
