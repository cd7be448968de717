// SPDX-License-Identifier: MIT
// A list of free numbers (of stacks, of scopes' states), last in, first out, for any thread.
//
//   head: tag (upper 32 bits) | the first number + 1 (lower 32 bits), 0 = empty
//
// The tag grows with each change, so a take fails if its number was taken and put back meanwhile
// (ABA). The links lie in memory of the caller, one at the beginning of each of its elements.
//
// Orders: put publishes the link, and what was written before (release), to the take that reads it
// (acquire).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

class free_list {
public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  using link = atomic<std::uint32_t>;

  // Before use. The links of the numbers 0, 1, ... lie `stride` bytes apart.
  void open(void* links, std::size_t stride) noexcept {
    links_ = static_cast<char*>(links);
    stride_ = stride;
  }

  bool empty() const noexcept { return first(head_.load(base::relaxed)) == 0; }
  std::uint32_t created() const noexcept { return created_.load(base::relaxed); }

  void put(std::uint32_t number) noexcept {
    std::uint64_t head = head_.load(base::relaxed);
    do {
      link_of(number).store(first(head), base::relaxed);
    } while (
        !head_.compare_exchange_weak(head, next(head, number + 1), base::release, base::relaxed));
  }

  // Takes the number that was put last; `none` if the list is empty.
  std::uint32_t take() noexcept {
    std::uint64_t head = head_.load(base::acquire);
    while (first(head) != 0) {
      const std::uint32_t number = first(head) - 1;
      if (head_.compare_exchange_weak(head, next(head, link_of(number).load(base::relaxed)),
                                      base::acquire, base::acquire))
        return number;
    }
    return none;
  }

  // A number that was never given before; `none` if there are `most`.
  std::uint32_t create(std::size_t most) noexcept {
    std::uint32_t number = created_.load(base::relaxed);
    do {
      if (number >= most)
        return none;
    } while (!created_.compare_exchange_weak(number, number + 1, base::relaxed, base::relaxed));
    return number;
  }

private:
  static std::uint32_t first(std::uint64_t head) noexcept {
    return static_cast<std::uint32_t>(head);
  }
  static std::uint64_t next(std::uint64_t head, std::uint32_t first) noexcept {
    return (((head >> 32) + 1) << 32) | first;
  }
  link& link_of(std::uint32_t number) const noexcept {
    return *reinterpret_cast<link*>(links_ + number * stride_);
  }

  char* links_ = nullptr;
  std::size_t stride_ = 0;
  alignas(64) atomic<std::uint64_t> head_{0};
  alignas(64) atomic<std::uint32_t> created_{0};
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
