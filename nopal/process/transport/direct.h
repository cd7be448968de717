// SPDX-License-Identifier: MIT
// The block of another process of this machine, which this process maps too: this processor's own
// instructions do what the seam asks for.
//
// Orders:
//   D  get, compare_swap, add, set, put of a word: those that transport.h promises, with their
//      partners in queue.h, heap.h and ends.h.
//   P  put: a full fence, so that the put has been done when a later get reads. Partner: the fence
//      of a process that writes what that get reads, and then reads what was put.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/transport.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

class direct_block {
public:
  direct_block() = default; // none
  explicit direct_block(std::uintptr_t at) noexcept : at_{at} {}
  explicit operator bool() const noexcept { return at_ != 0; }
  std::uintptr_t at() const noexcept { return at_; }

  void get(void* to, const void* from, std::size_t bytes) const noexcept {
    const void* const there = mapped(from);
    if (bytes == sizeof(std::uint64_t)) { // one read
      *static_cast<std::uint64_t*>(to) =
          base::load_relaxed_word(reinterpret_cast<std::uintptr_t>(there));
      base::acquire_what_was_read(); // D
    } else if (bytes == sizeof(std::uint32_t)) {
      *static_cast<std::uint32_t*>(to) = static_cast<const word*>(there)->load(base::acquire); // D
    } else {
      std::memcpy(to, there, bytes);
    }
  }
  void put(void* to, const void* from, std::size_t bytes) const noexcept {
    if (bytes == sizeof(word))
      static_cast<word*>(mapped(to))
          ->store(*static_cast<const std::uint32_t*>(from), base::release); // D
    else
      std::memcpy(mapped(to), from, bytes);
    base::full_fence(); // P
  }
  std::uint32_t compare_swap(word& at, std::uint32_t expected,
                             std::uint32_t desired) const noexcept {
    mapped(&at)->compare_exchange_strong(expected, desired, base::seq_cst, base::seq_cst); // D
    return expected;
  }
  std::uint32_t add(word& at, std::uint32_t by) const noexcept {
    return mapped(&at)->fetch_add(by, base::acq_rel); // D
  }
  void set(word& at, std::uint32_t value) const noexcept {
    mapped(&at)->store(value, base::release); // D
  }

private:
  template <class T> T* mapped(T* in_block) const noexcept {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(in_block) - block_at + at_);
  }

  std::uintptr_t at_ = 0;
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
