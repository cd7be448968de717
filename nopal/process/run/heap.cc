// SPDX-License-Identifier: MIT
// The rare paths of the heap that other processes reach.
#include "nopal/process/run/heap.h"

#include "nopal/base/die.h"

#include <algorithm>
#include <memory>

namespace nopal::inline NOPAL_ABI::process {

void heap::open(std::uintptr_t at, std::size_t bytes) {
  *this = {};
  from_ = next_ = at;
  end_ = at + bytes;
}

cell* heap::allocate_slow(std::uint32_t size_class) noexcept {
  if (!collect(size_class) && !grow(size_class))
    base::die("the heap of %zu bytes for the results and the waiting stacks of tasks is used up; "
              "set NOPAL_HEAP_SIZE or process::options::heap_size to a larger power of two",
              end_ - from_);
  return allocate(size_class);
}

// True: at least a quarter of the cells of this size were free.
bool heap::collect(std::uint32_t size_class) noexcept {
  std::size_t all = 0;
  std::size_t found = 0;
  for (const slab& each : slabs_[size_class])
    for (std::size_t i = 0; i < each.cells; ++i, ++all) {
      auto* const one = reinterpret_cast<cell*>(each.from + i * cell_size(size_class));
      if (one->state.load(base::acquire) != cell_freed) // S
        continue;
      one->state.store(cell_pending, base::relaxed);
      free(one, size_class);
      ++found;
    }
  return found > 0 && found >= all / 4;
}

bool heap::grow(std::uint32_t size_class) noexcept {
  constexpr std::size_t slab_size = std::size_t{16} << 10;
  const std::size_t size = cell_size(size_class);
  const std::size_t cells =
      std::min(std::max(slab_size / size, std::size_t{1}), (end_ - next_) / size);
  if (cells == 0)
    return free_[size_class] != nullptr;
  slabs_[size_class].push_back({next_, cells});
  for (std::size_t i = cells; i-- > 0;) {
    auto* const one = std::construct_at(reinterpret_cast<cell*>(next_ + i * size));
    one->size_class = size_class;
    free(one, size_class);
  }
  next_ += cells * size;
  return true;
}

} // namespace nopal::inline NOPAL_ABI::process
