// SPDX-License-Identifier: MIT
// The one place that states how long a test waits for what must happen before it calls it a hang.
// The time is so long that no loaded machine needs it: what a test finds must not depend on how
// fast the machine is. patience.py and cmake/tests.cmake read the number here.
#pragma once

#include <chrono>

namespace nopal_test {

inline constexpr std::chrono::seconds patience{1000};

} // namespace nopal_test
