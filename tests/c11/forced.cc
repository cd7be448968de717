// SPDX-License-Identifier: MIT
// Linked with a program in C: its forks are stolen wherever they can be.
#include "nopal/vproc/settings.h"

namespace {
[[maybe_unused]] const bool forced = (nopal::vproc::force_steals(1), true);
}
