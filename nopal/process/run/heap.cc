// SPDX-License-Identifier: MIT
// The rare paths of the heap that other processes reach.
#include "nopal/process/run/heap.h"

#include "nopal/base/die.h"

#include <algorithm>
#include <memory>

namespace nopal::inline NOPAL_ABI::process {

void heap::open(std::uintptr_t at, std::size_t bytes) {
  *this = {};
  closed_ = nullptr;
  from_ = next_ = at;
  end_ = at + bytes;
}

void heap::close(const char* why) noexcept {
  std::ranges::fill(free_, nullptr);
  closed_ = why;
}

cell* heap::allocate_slow(std::uint32_t size_class) noexcept {
  if (closed_ != nullptr)
    base::die("%s", closed_);
  if (!collect(size_class, 1))
    grow(size_class);
  if (free_[size_class] == nullptr)
    collect(size_class, slabs_[size_class].size());
  if (free_[size_class] == nullptr)
    base::die("the heap of %zu bytes for the results and the waiting stacks of tasks is used up; "
              "set NOPAL_HEAP_SIZE or process::options::heap_size to a larger power of two",
              end_ - from_);
  return allocate(size_class);
}

// Looks in the next so many slabs of this size for cells that other processes have freed. True: at
// least a quarter of the cells were. Else the heap grows by a slab: so it doubles at most while all
// slabs are looked at, and an allocation looks at few cells, however many there are.
bool heap::collect(std::uint32_t size_class, std::size_t slabs) noexcept {
  const std::vector<slab>& all = slabs_[size_class];
  std::size_t seen = 0;
  std::size_t found = 0;
  for (slabs = std::min(slabs, all.size()); slabs != 0; --slabs) {
    std::size_t& at = last_looked_at_[size_class];
    at = (at + 1) % all.size();
    seen += all[at].cells;
    for (std::size_t i = 0; i < all[at].cells; ++i) {
      auto* const own = reinterpret_cast<cell*>(all[at].from + i * cell_size(size_class));
      if (own->state.load(base::acquire) != cell_freed) // S
        continue;
      free(own, size_class);
      ++found;
    }
  }
  return found > 0 && found >= seen / 4;
}

// Where there is room for a cell.
void heap::grow(std::uint32_t size_class) noexcept {
  constexpr std::size_t slab_size = std::size_t{16} << 10;
  const std::size_t size = cell_size(size_class);
  const std::size_t cells =
      std::min(std::max(slab_size / size, std::size_t{1}), (end_ - next_) / size);
  if (cells == 0)
    return;
  slabs_[size_class].push_back({next_, cells});
  for (std::size_t i = cells; i-- > 0;) {
    auto* const own = std::construct_at(reinterpret_cast<cell*>(next_ + i * size));
    own->size_class = size_class;
    free(own, size_class);
  }
  next_ += cells * size;
}

} // namespace nopal::inline NOPAL_ABI::process
