// SPDX-License-Identifier: MIT
// A descriptor that the program owns.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

/// A descriptor that is closed when this object ends. It does not block (O_NONBLOCK).
/// @par Threads
/// Several strands may use it at a time: one may read while another one writes or closes it. Of two
/// that read, one gets what comes first.
class NOPAL_TYPE descriptor {
public:
  descriptor() noexcept = default; // none
  /// Takes a descriptor over. Throws std::system_error if the number is not one.
  explicit descriptor(int fd);
  descriptor(descriptor&& other) noexcept;
  descriptor& operator=(descriptor&& other) noexcept;
  ~descriptor() { close(); }

  explicit operator bool() const noexcept { return get() >= 0; }
  [[nodiscard]] int get() const noexcept { return fd_.load(base::relaxed); }

  /// Closes it, if it is open. Strands that wait for it throw std::system_error (EBADF) then. A
  /// system call that a strand is amid may meet the descriptor that gets the number next; so where
  /// others may be at work, end a socket with shutdown(2), and close it after them.
  void close() noexcept;
  /// Gives the descriptor up, and leaves it open.
  int release() noexcept;

private:
  friend struct attempts;

  bool is_tcp_ = false;               // a read that gives less than was asked for has emptied it
  base::atomic<bool> watched_{false}; // its events are taken
  base::atomic<int> fd_{-1};
  base::atomic<std::uint64_t> emptied_{0}; // 1 + the count of events when a read had emptied it
};

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
