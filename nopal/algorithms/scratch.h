// SPDX-License-Identifier: MIT
// Memory for a second copy of a range while it is sorted or partitioned.
//
// Elements that are no more than bytes are written there unmade. Others are moved there, each piece
// by the strand that comes to it; the destructor destroys what was made, also where a constructor
// has thrown.
#pragma once

#include "nopal/algorithms/blocks.h"
#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/lazy.h"
#include "nopal/algorithms/memory.h"
#include "nopal/config.h"

#include <cstddef>
#include <memory>
#include <type_traits>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

template <class T>
inline constexpr bool only_bytes =
    std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T> &&
    std::is_copy_assignable_v<T>;

template <class T> class scratch {
public:
  explicit scratch(std::size_t count)
      : all_(count), made_(std::make_unique<bool[]>(all_.number)), memory_(count) {}
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (std::size_t block = 0; block < all_.number; ++block)
        if (made_[block])
          std::destroy(begin() + all_.begin(block), begin() + all_.end(block));
  }

  T* begin() const noexcept { return memory_.get(); }

  // Moves the range here.
  template <class It> void take(It first) {
    move_blocks(all_, [this, first](std::size_t block) {
      std::uninitialized_move(at(first, all_.begin(block)), at(first, all_.end(block)),
                              begin() + all_.begin(block));
      made_[block] = true;
    });
  }

private:
  blocks all_;
  std::unique_ptr<bool[]> made_;
  memory<T> memory_;
};

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
