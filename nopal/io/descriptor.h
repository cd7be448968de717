// SPDX-License-Identifier: MIT
// A descriptor that the program owns.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

/// Says that a descriptor does not get O_NONBLOCK.
struct keep_blocking_t {};
inline constexpr keep_blocking_t keep_blocking;

/// A descriptor that is closed when this object ends.
/// @par Threads
/// Several strands and threads may use it at a time: one may read while another one writes, moves,
/// closes or destroys it. A call holds the descriptor, not this object, from its begin to its end.
/// Of two that read, one gets what comes first.
class NOPAL_TYPE descriptor {
public:
  descriptor() noexcept = default; // none
  /// Takes a descriptor over, which gets O_NONBLOCK. That belongs to the open file, and so to all
  /// that share it. Therefore a terminal, and what is the same as one of the standard descriptors,
  /// stays as it is, as with `keep_blocking`.
  /// If another object owns the number already, that one no longer does: its calls throw
  /// std::system_error (EBADF).
  /// @throws std::system_error if the number is not one; then it is not taken over.
  explicit descriptor(int fd);
  /// The same for a file that others share: it stays without O_NONBLOCK. Calls wait until it is
  /// ready. Sockets and pipes never block then. On another file, if somebody else who shares it is
  /// faster, a call blocks, for which another thread runs strands (nopal/blocking.h), and neither
  /// its time nor a cancel nor `close` ends it. So a regular file, too, blocks no worker.
  descriptor(int fd, keep_blocking_t);
  descriptor(descriptor&& other) noexcept : name_{other.name_.exchange(kNone, base::relaxed)} {}
  descriptor& operator=(descriptor&& other) noexcept;
  ~descriptor() { close(); }

  explicit operator bool() const noexcept { return get() >= 0; }
  [[nodiscard]] int get() const noexcept { return named().number; }

  /// Closes it, if it is open, and does not wait for others. Strands and threads that wait for it
  /// throw std::system_error (EBADF) then. The system gets the number back when the last call that
  /// is amid ends, so none meets the descriptor that gets the number next.
  void close() noexcept;
  /// Gives the descriptor up, and leaves it open. Who waits for it throws std::system_error
  /// (EBADF). A call that is amid in another thread may still use the number when this returns.
  int release() noexcept;

private:
  friend class use;
  friend struct opened;
  // The number, and which of its adoptions (uses.h).
  struct name {
    int number;
    std::uint32_t generation;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0}; // number -1

  enum class kind : unsigned char { other, tcp, blocking };
  void adopt(int fd, kind what);
  static name name_of(std::uint64_t word) noexcept {
    return {static_cast<int>(word >> 32), static_cast<std::uint32_t>(word)};
  }
  [[nodiscard]] name named() const noexcept { return name_of(name_.load(base::relaxed)); }

  base::atomic<std::uint64_t> name_{kNone};
};

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
