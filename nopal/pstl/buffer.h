// SPDX-License-Identifier: MIT
// Memory for n objects, without objects.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <memory>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

// Throws std::bad_alloc if there is none.
template <class T> class buffer {
public:
  explicit buffer(std::size_t n) : memory_{std::allocator<T>{}.allocate(n)}, n_{n} {}
  ~buffer() { std::allocator<T>{}.deallocate(memory_, n_); }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  T* get() const noexcept { return memory_; }

private:
  T* const memory_;
  const std::size_t n_;
};

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END
