// SPDX-License-Identifier: MIT
// Places for values that a function returns: the value is made there, and never lies on the stack
// of the one who calls the function, which may be too small for it.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

// At most one T, within this object.
template <class T> class result_place {
public:
  result_place() noexcept {}
  ~result_place() {
    if (made_)
      std::destroy_at(std::addressof(value_));
  }
  result_place(const result_place&) = delete;
  result_place& operator=(const result_place&) = delete;

  // Once.
  template <class Make> void make(Make&& from) {
    ::new (const_cast<void*>(static_cast<const volatile void*>(std::addressof(value_)))) T(from());
    made_ = true;
  }
  explicit operator bool() const noexcept { return made_; }
  T& operator*() noexcept { return value_; }

private:
  union {
    T value_;
  };
  bool made_ = false;
};

// Values above this size are kept out of the library's own frames, as far as that is possible.
inline constexpr std::size_t largest_in_frames = 16384;

// A T on the heap, which is copied and moved as one. A moved one is assigned to, or destroyed.
template <class T> class on_heap {
public:
  template <class Make> on_heap(std::in_place_t, Make&& from) : at_(new T(from())) {}
  on_heap(const on_heap& from) : at_(new T(*from)) {}
  on_heap(on_heap&&) noexcept = default;
  on_heap& operator=(const on_heap& from) { return *this = on_heap(from); }
  on_heap& operator=(on_heap&&) noexcept = default;

  T& operator*() & noexcept { return *at_; }
  const T& operator*() const& noexcept { return *at_; }
  T&& operator*() && noexcept { return std::move(*at_); }

private:
  std::unique_ptr<T> at_;
};

// How frames hold a T, how one is made from what from() returns, and the T itself.
template <class T>
using held_value = std::conditional_t<(sizeof(T) > largest_in_frames), on_heap<T>, T>;
template <class T, class Make>
[[gnu::always_inline]] inline held_value<T> make_held(const Make& from) {
  if constexpr (std::is_same_v<held_value<T>, T>)
    return from();
  else
    return on_heap<T>{std::in_place, from};
}
template <class T, class Held> [[gnu::always_inline]] inline auto&& bare(Held&& held) noexcept {
  if constexpr (std::is_same_v<held_value<T>, T>)
    return std::forward<Held>(held);
  else
    return *std::forward<Held>(held);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
