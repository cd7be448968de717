// SPDX-License-Identifier: MIT
// What an option has come to, and where variables are looked up.
#pragma once

#include "nopal/config.h"

#include <functional>
#include <string>

NOPAL_HIDDEN_BEGIN
namespace nopal::config {

// A value and who decided it: "set by the program", a variable's name, "default" or "from the
// clock"; empty for as many workers as the machine suggests.
template <class T> struct setting {
  T value;
  std::string from;
};

// Gives the value of a variable, or null when it is not set: std::getenv, or what a test brings.
using variable_lookup = std::function<const char*(const char* name)>;

} // namespace nopal::config
NOPAL_HIDDEN_END
