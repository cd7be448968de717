// SPDX-License-Identifier: MIT
// Memory that other processes reach: cells of results, and stacks that were swapped out.
//
// A cell belongs to the process that spawned its task. The child puts the result there, then the
// state; who joins reads both, wherever it is, and frees the cell. A process allocates and frees
// its own cells; another one that frees a cell only sets its state, and the owner collects such
// cells when it has no others of their size.
//
// Orders:
//   S  state: store release by who has put the result, or has read it for the last time. Partner:
//      the acquire of who reads the state first.
// Paper: uni-address-hpdc15, section 5.4.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/process/transport/layout.h"

#include <cstddef>
#include <cstdint>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

enum cell_state : std::uint32_t { cell_pending, cell_value, cell_error, cell_freed };

struct alignas(16) cell {
  word state;
  std::uint32_t size_class;
  cell* next; // in the owner's list of free ones

  void* payload() noexcept { return this + 1; }
  const void* payload() const noexcept { return this + 1; }
};

inline cell_state state_of_own(const cell& one) noexcept {
  return static_cast<cell_state>(one.state.load(base::acquire)); // S
}
inline void set_state(cell& one, cell_state how) noexcept {
  one.state.store(how, base::release); // S
}

// Sizes of cells with their heads: 64 bytes, doubled so often.
inline constexpr std::uint32_t size_classes = 25;
constexpr std::size_t cell_size(std::uint32_t size_class) noexcept {
  return std::size_t{64} << size_class;
}
constexpr std::uint32_t class_of(std::size_t payload) noexcept {
  std::uint32_t found = 0;
  while (cell_size(found) < payload + sizeof(cell))
    ++found;
  return found;
}

class heap {
public:
  // Empty; all cells before are gone.
  void open(std::uintptr_t at, std::size_t bytes);

  // Pending. Ends the program with a sentence if there is no room.
  [[gnu::always_inline]] cell* allocate(std::uint32_t size_class) noexcept {
    cell* const first = free_[size_class];
    if (first == nullptr) [[unlikely]]
      return allocate_slow(size_class);
    free_[size_class] = first->next;
    first->state.store(cell_pending, base::relaxed);
    return first;
  }
  // One of this process.
  [[gnu::always_inline]] void free(cell* one, std::uint32_t size_class) noexcept {
    one->next = free_[size_class];
    free_[size_class] = one;
  }
  void free(cell* one) noexcept { free(one, one->size_class); }

  std::size_t used() const noexcept { return next_ - from_; }

private:
  [[gnu::noinline]] cell* allocate_slow(std::uint32_t size_class) noexcept;
  bool collect(std::uint32_t size_class) noexcept;
  bool grow(std::uint32_t size_class) noexcept;

  struct slab {
    std::uintptr_t from;
    std::size_t cells;
  };

  cell* free_[size_classes] = {};
  std::uintptr_t from_ = 0;
  std::uintptr_t next_ = 0;
  std::uintptr_t end_ = 0;
  std::vector<slab> slabs_[size_classes];
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
