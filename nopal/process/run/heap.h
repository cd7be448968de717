// SPDX-License-Identifier: MIT
// Memory that other processes reach: cells of results, and stacks that were swapped out.
//
// A cell belongs to the process that spawned its task. The child puts the result there, then the
// state. The joiner, in whichever process, reads both and frees the cell. A process allocates and
// frees its own cells. Another one that frees a cell only sets its state; the owner collects such
// cells when it has no others of their size.
//
// Ownership: state -> the child, the joiner, the owner, in this order; next, size_class and the
//            lists -> the thread that runs tasks of the owner.
// Invariant: a cell is in one place: a list of free cells, or a task's reference, or freed by
//            another process and not yet collected.
// Orders:
//   S  state: store release after the result was put, or was read for the last time (by the
//      transport, in whichever process). Partner: the acquire load of the state, before the result
//      is read or the cell is used anew.
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

// `freed`: by another process, and not yet collected; `unused`: in the owner's list.
enum cell_state : std::uint32_t { cell_pending, cell_value, cell_error, cell_freed, cell_unused };

struct alignas(16) cell {
  word state;
  std::uint32_t size_class;
  cell* next; // in the owner's list of free ones

  void* payload() noexcept { return this + 1; }
};

// The size of a cell with its head is 64 bytes, doubled `size_class` times.
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
  static constexpr char outside_of_runs[] =
      "process::spawn was called outside of process::session::run: only a task spawns";

public:
  // Makes the heap empty: all cells that there were are gone.
  void open(std::uintptr_t at, std::size_t bytes);
  // From now on an allocation ends the program with this sentence. For handlers of signals too.
  void close(const char* why = outside_of_runs) noexcept;

  // The cell's state is pending. Ends the program with a sentence if there is no room, or if the
  // heap is closed, as outside of runs.
  [[gnu::always_inline]] cell* allocate(std::uint32_t size_class) noexcept {
    cell* const first = free_[size_class];
    if (first == nullptr) [[unlikely]]
      return allocate_slow(size_class);
    free_[size_class] = first->next;
    first->state.store(cell_pending, base::relaxed);
    return first;
  }
  // A cell of this process.
  [[gnu::always_inline]] void free(cell* own, std::uint32_t size_class) noexcept {
    own->state.store(cell_unused, base::relaxed); // a second join finds this
    own->next = free_[size_class];
    free_[size_class] = own;
  }
  void free(cell* own) noexcept { free(own, own->size_class); }

private:
  [[gnu::noinline]] cell* allocate_slow(std::uint32_t size_class) noexcept;
  bool collect(std::uint32_t size_class, std::size_t slabs) noexcept;
  void grow(std::uint32_t size_class) noexcept;

  struct slab {
    std::uintptr_t from;
    std::size_t cells;
  };

  cell* free_[size_classes] = {};
  const char* closed_ = outside_of_runs; // null: the heap is open
  std::uintptr_t from_ = 0;
  std::uintptr_t next_ = 0;
  std::uintptr_t end_ = 0;
  std::vector<slab> slabs_[size_classes];
  std::size_t last_looked_at_[size_classes] = {}; // the slab
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
