// SPDX-License-Identifier: MIT
// An object that each process makes at its first use, and that nobody destroys: threads and the
// last static destructors may use it. In the child of fork() (child.h) it is made again, also if
// another thread was making it at that time, which a static local variable would wait for. The
// parent's stays as it is, since objects that the child still has may be linked with it.
//
// Orders: M  the maker stores the state `made` (release) after the object; who reads it (acquire)
//            sees the object.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/child.h"
#include "nopal/config.h"

#include <cstdint>
#include <new>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

template <class T> class per_process {
public:
  constexpr per_process() noexcept = default;
  // All processes make theirs in this room.
  constexpr explicit per_process(void* room) noexcept : room_{room} {}

  template <class... Args> T& get(Args&&... args) {
    if (state_.load(acquire) != made_here()) [[unlikely]] // M
      make(args...);
    return *object_;
  }

private:
  // The state is 0, or, with the number of the process that makes or has made the object:
  static std::uint32_t made_here() noexcept { return 2 * this_process; }
  static std::uint32_t being_made_here() noexcept { return 2 * this_process + 1; }

  template <class... Args> void make(Args&... args) noexcept {
    std::uint32_t seen = state_.load(acquire); // M
    for (unsigned tries = 1; seen != made_here(); ++tries) {
      if (seen == being_made_here()) {
        wait_briefly(tries);
        seen = state_.load(acquire); // M
      } else if (state_.compare_exchange_strong(seen, being_made_here(), acquire, acquire)) {
        object_ = room_ != nullptr ? ::new (room_) T(args...) : new T(args...);
        state_.store(made_here(), release); // M
        return;
      }
    }
  }

  atomic<std::uint32_t> state_{0};
  T* object_ = nullptr;
  void* const room_ = nullptr;
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
