// SPDX-License-Identifier: MIT
// Room for an object that ends while the model still runs, such as the frame of a function: a
// thread that touches one of its atomics or its plain data after that fails the run.
#pragma once

#include "harness.h"

#include <cstddef>
#include <memory>

namespace nopal::model {

template <class T> class mortal {
public:
  template <class... From> T& begin(From... from) noexcept {
    return *std::construct_at(at(), from...);
  }
  T& operator*() noexcept { return *at(); }
  T* operator->() noexcept { return at(); }

  // Relacy's atomics and variables know by a number in them that they exist. Compilers leave out
  // what a destructor writes last, so the number is removed here.
  void end() noexcept {
    std::destroy_at(at());
    for (volatile std::byte& each : room_)
      each = std::byte{0};
  }

private:
  T* at() noexcept { return reinterpret_cast<T*>(room_); }

  alignas(T) std::byte room_[sizeof(T)]{};
};

} // namespace nopal::model
