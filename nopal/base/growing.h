// SPDX-License-Identifier: MIT
// Memory of which only the used part counts for the limits (RLIMIT_DATA, locked memory): all its
// addresses are reserved at once, and become usable from the lowest one upwards, piece by piece.
//
// Invariant: what lies below `usable_` is usable.
// Orders: G  a thread that has made memory usable raises `usable_` (release); a thread that reads
//            it (acquire) may use the memory. Two threads may make the same piece usable.
#pragma once

#include "nopal/config.h"

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

class growing {
public:
  // Before use. False: the addresses are refused.
  bool open(std::size_t bytes) noexcept {
    bytes_ = bytes; // first, so that memory which has addresses is complete (base/child.h)
    at_ = static_cast<char*>(reserve(bytes, page_size()));
    return at_ != nullptr;
  }
  void* start() const noexcept { return at_; }
  // Any thread. Whether the first so many bytes are usable.
  bool holds(std::size_t bytes) const noexcept { return bytes <= usable_.load(acquire); } // G
  // Any thread. Makes the first so many bytes usable. False: the kernel refuses; errno says why.
  bool reach(std::size_t bytes) noexcept {
    std::size_t from = usable_.load(acquire); // G
    if (bytes <= from)
      return true;
    const std::size_t whole = (bytes + piece - 1) / piece * piece;
    const std::size_t to = whole < bytes_ ? whole : bytes_;
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

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
