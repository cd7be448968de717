// SPDX-License-Identifier: MIT
// What unwinds a strand that was told to stop (nopal/cancel.h).
#pragma once

#include "nopal/config.h"

#include <exception>

namespace nopal::inline NOPAL_ABI {

// Thrown by joins, polls, waits and loops of a computation that is cancelled. Who catches it throws
// it again when the handler has done its work; else the next join or poll throws another one.
class cancelled final : public std::exception {
public:
  const char* what() const noexcept override {
    return "a computation was cancelled, and this function may have no exception leave it: let it "
           "and its callers throw (no noexcept, no destructor that joins, unwind tables), or catch "
           "nopal::cancelled where the computation was begun";
  }
};

} // namespace nopal::inline NOPAL_ABI
