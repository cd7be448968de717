// SPDX-License-Identifier: MIT
// System calls that would concern one process where the program means all of it.
#pragma once

#include "nopal/config.h"

#include <span>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

struct refusal {
  int number;          // of the system call
  const char* name;    // as programs know it
  const char* instead; // what to do
  bool ends;           // the program: to go on without it would be dangerous
  bool always = true;  // else some uses of it work
};

std::span<const refusal> refusals() noexcept;

// Says so, once for each call, and returns the error that the program gets; or ends the program.
long refuse(long number) noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
