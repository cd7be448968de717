// SPDX-License-Identifier: MIT
// What a join throws if its task has thrown, in whichever process.
#pragma once

#include "nopal/config.h"

#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

/// What a join throws if its task has thrown, and `run` if its function has: the exception as text,
/// which means the same in every process.
/// @par Threads
/// Any thread.
class remote_error : public std::runtime_error {
public:
  remote_error(std::string type, std::string text)
      : std::runtime_error(text.empty() ? type : type + ": " + text), type_{std::move(type)},
        text_{std::move(text)} {}

  /// The name of the exception's type.
  const std::string& type() const noexcept { return type_; }
  /// What the exception says; empty if it is no std::exception.
  const std::string& text() const noexcept { return text_; }

private:
  std::string type_;
  std::string text_;
};

/// What a join throws for the current exception.
/// @pre Called in a handler of all exceptions.
/// @throws std::bad_alloc.
inline remote_error remote_error_of_current() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const char* const mangled = type != nullptr ? type->name() : "an exception of another language";
  int status = -1;
  char* const readable = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  const std::string name = status == 0 ? readable : mangled;
  std::free(readable);
  try {
    throw;
  } catch (const remote_error& passed_on) {
    return passed_on;
  } catch (const std::exception& standard) {
    return {name, standard.what()};
  } catch (...) {
    return {name, ""};
  }
}

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
