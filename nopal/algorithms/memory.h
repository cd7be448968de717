// SPDX-License-Identifier: MIT
// Memory for n objects, without objects.
//
// What spans huge pages is made of them, where the system has any: the first touch of each page is
// a fault, and there are 512 times as many small ones (docs/decisions.md).
#pragma once

#include "nopal/base/os.h"
#include "nopal/config.h"

#include <cstddef>
#include <new>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

template <class T> class memory {
public:
  explicit memory(std::size_t n) : memory{n, std::nothrow} {
    if (begin_ == nullptr)
      throw std::bad_alloc{};
  }
  // Null if there is none.
  memory(std::size_t n, std::nothrow_t) noexcept
      : alignment_(n * sizeof(T) < 2 * base::huge_page_size() ? alignof(T)
                                                              : base::huge_page_size()),
        begin_(static_cast<T*>(
            ::operator new(n * sizeof(T), std::align_val_t{alignment_}, std::nothrow))) {
#if !defined(NOPAL_SERIAL)
    if (begin_ != nullptr && alignment_ == base::huge_page_size())
      base::ask_for_huge_pages(begin_, n * sizeof(T));
#endif
  }
  ~memory() { ::operator delete(begin_, std::align_val_t{alignment_}); }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  T* get() const noexcept { return begin_; }

private:
  const std::size_t alignment_;
  T* const begin_;
};

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
