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

// Looks at all cells of this size for those that other processes have freed. True: at least a
// quarter of them were. With fewer, looking again soon would cost more than it finds, so the heap
// grows.
bool heap::collect(std::uint32_t size_class) noexcept {
  std::size_t all = 0;
  std::size_t found = 0;
  for (const slab& each : slabs_[size_class])
    for (std::size_t i = 0; i < each.cells; ++i, ++all) {
      auto* const own = reinterpret_cast<cell*>(each.from + i * cell_size(size_class));
      if (own->state.load(base::acquire) != cell_freed) // S
        continue;
      own->state.store(cell_pending, base::relaxed); // or the next look would find it again
      free(own, size_class);
      ++found;
    }
  return found > 0 && found >= all / 4;
}

// False: no cell of this size is free, and there is no room for one.
bool heap::grow(std::uint32_t size_class) noexcept {
  constexpr std::size_t slab_size = std::size_t{16} << 10;
  const std::size_t size = cell_size(size_class);
  const std::size_t cells =
      std::min(std::max(slab_size / size, std::size_t{1}), (end_ - next_) / size);
  if (cells == 0)
    return free_[size_class] != nullptr;
  slabs_[size_class].push_back({next_, cells});
  for (std::size_t i = cells; i-- > 0;) {
    auto* const own = std::construct_at(reinterpret_cast<cell*>(next_ + i * size));
    own->size_class = size_class;
    free(own, size_class);
  }
  next_ += cells * size;
  return true;
}

} // namespace nopal::inline NOPAL_ABI::process
