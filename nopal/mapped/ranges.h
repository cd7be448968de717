// SPDX-License-Identifier: MIT
// Which addresses of a range are free. The lists lie in shared memory, and grow as they must.
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

inline constexpr std::size_t page = 4096;
constexpr std::size_t up(std::size_t bytes) noexcept { return (bytes + page - 1) & -page; }

// A piece [at, end) of a list; `image` is its owner's.
struct piece {
  piece* next;
  std::uintptr_t at, end, image;
};

// Pieces that are in no list.
class spare_pieces {
public:
  piece* take() noexcept;
  void give(piece* unused) noexcept;
  base::spin_lock& lock() noexcept { return lock_; }

private:
  base::spin_lock lock_;
  piece* first_ = nullptr;
};

// Invariant: a piece of the free list ends before the next one begins, and the last before next_;
// what lies in [begin, end) of the range, and not in these nor behind next_, is in use.
class ranges {
public:
  void open(std::uintptr_t from, std::size_t bytes) noexcept;
  bool hold(std::uintptr_t at) const noexcept { return at - from_ < bytes_; }
  // 0: there are no addresses left.
  std::uintptr_t take(std::size_t bytes) noexcept;
  // A part that is free already stays so.
  void give(std::uintptr_t at, std::size_t bytes) noexcept;
  base::spin_lock& lock() noexcept { return lock_; }

private:
  base::spin_lock lock_;
  std::uintptr_t from_ = 0, bytes_ = 0, next_ = 0;
  piece* free_ = nullptr; // by address
};

inline constinit spare_pieces spares;
inline constinit ranges arena, private_files, shared_files; // layout.h

} // namespace nopal::mapped
NOPAL_HIDDEN_END
