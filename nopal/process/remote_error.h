// SPDX-License-Identifier: MIT
// What a join throws whose task has thrown, on whichever process.
#pragma once

#include "nopal/config.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace nopal::inline NOPAL_ABI::process {

class remote_error : public std::runtime_error {
public:
  remote_error(std::string type, std::string text)
      : std::runtime_error(text.empty() ? type : type + ": " + text), type_{std::move(type)},
        text_{std::move(text)} {}

  // The name of the exception's type, and what it says; empty if it is no std::exception.
  const std::string& type() const noexcept { return type_; }
  const std::string& text() const noexcept { return text_; }

private:
  std::string type_;
  std::string text_;
};

} // namespace nopal::inline NOPAL_ABI::process
