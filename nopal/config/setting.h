// SPDX-License-Identifier: MIT
// An option's value with its source, and how the value of a variable is found.
#pragma once

#include "nopal/config.h"

#include <functional>
#include <string>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config {

// A value and its source: "set by the program", a variable's name, "default" or "from the clock".
// The source is empty for a number of workers that the machine suggests.
template <class T> struct setting {
  T value;
  std::string from;
};

// Returns a variable's value, or null if it is not set: config::variable, or a test's function.
using variable_lookup = std::function<const char*(const char* name)>;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::config
NOPAL_HIDDEN_END
