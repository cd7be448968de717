// SPDX-License-Identifier: MIT
// Memory that takes of the limits (RLIMIT_DATA, locked memory) only what is used: its addresses are
// reserved at once, and made usable from the lowest one upwards, a piece at a time.
//
// Invariant: what lies below `usable_` is usable.
// Orders: G  a thread that has made memory usable says so (release); a thread that reads it
//            (acquire) may use it. Two threads may make the same piece usable, which does no harm.
#pragma once

#include "nopal/config.h"

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"

#include <algorithm>
#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::base {

class growing {
public:
  // Before use. False: the addresses are refused.
  bool open(std::size_t bytes) noexcept {
    at_ = static_cast<char*>(reserve(bytes, page_size()));
    bytes_ = bytes;
    return at_ != nullptr;
  }
  void* start() const noexcept { return at_; }
  bool holds(std::size_t bytes) const noexcept {
    return bytes <= usable_.load(acquire); // G
  }
  // Makes the first so many bytes usable. False: the kernel refuses, and errno says why.
  bool reach(std::size_t bytes) noexcept {
    std::size_t from = usable_.load(acquire); // G
    if (bytes <= from)
      return true;
    const std::size_t to = std::min(bytes_, (bytes + piece - 1) / piece * piece);
    if (!commit(at_ + from, to - from))
      return false;
    while (from < to && !usable_.compare_exchange_weak(from, to, release, acquire)) { // G
    }
    return true;
  }
  static constexpr std::size_t piece = std::size_t{256} << 10;

private:
  char* at_ = nullptr;
  std::size_t bytes_ = 0;
  atomic<std::size_t> usable_{0};
};

} // namespace nopal::base
NOPAL_HIDDEN_END
