// SPDX-License-Identifier: MIT
// The memory that deques map for their arrays: checked atomics, made anew for each execution.
#pragma once

#include "nopal/config.h"

#include "harness.h"

#include <cstddef>

namespace nopal::model {

class mapped_memory {
public:
  mapped_memory() noexcept { current = this; }
  mapped_memory(const mapped_memory&) = delete;
  mapped_memory& operator=(const mapped_memory&) = delete;

  virtual void* map(std::size_t bytes) noexcept = 0;

  // The memory of the execution under way: deques map memory by a free function.
  static inline mapped_memory* current = nullptr;

protected:
  ~mapped_memory() = default;
};

// Room for `Room` entries of type T in all, handed out in the order of the calls.
template <class T, std::size_t Room> class mapped_atomics final : public mapped_memory {
public:
  // An entry takes the size of a pointer or of a checked atomic, as the caller measures it.
  void* map(std::size_t bytes) noexcept override {
    const bool checked = bytes % sizeof slots_[0] == 0;
    const std::size_t count = bytes / (checked ? sizeof slots_[0] : sizeof(T));
    check(bytes != 0 && used_ + count <= Room, "more memory is mapped than expected");
    void* const room = slots_ + used_;
    used_ += count;
    return room;
  }

private:
  base::atomic<T> slots_[Room];
  std::size_t used_ = 0;
};

} // namespace nopal::model

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

inline void* map_zeroed(std::size_t bytes) noexcept {
  return model::mapped_memory::current->map(bytes);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
