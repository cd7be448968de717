// SPDX-License-Identifier: MIT
// Which part of Nopal an access belongs to that stands in a file of all parts (nopal/base), and
// which threads search.
//
//   a spin lock    in a worker: its deque's; on a stack: that of Fibril's join
//   a free list    the large or small stacks', or else that of scopes' states, which the join has
#pragma once

#include "bench/counted/directory.h"

#include "nopal/stack/small.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/table.h"

#include <cstdint>

namespace bench::counted {

inline bool is_within(std::uintptr_t at, const void* start, std::size_t bytes) noexcept {
  return at - reinterpret_cast<std::uintptr_t>(start) < bytes;
}

inline bool is_of_pool(std::uintptr_t at, const nopal::stack::slot_range& stacks) noexcept {
  return is_within(at, &stacks, sizeof stacks) ||
         is_within(at, stacks.links.start(),
                   stacks.capacity * sizeof(nopal::base::free_list::link));
}

// Reads the table of workers, unnoticed.
inline bool is_of_worker(std::uintptr_t at) noexcept {
  const unnoticed looking;
  for (std::uint32_t slot = 0; slot < nopal::vproc::slots_in_use(); ++slot)
    if (const auto* const found = nopal::vproc::worker_in(slot))
      if (is_within(at, found, sizeof *found))
        return true;
  return false;
}

inline part part_at(const void* at) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (is_of_pool(address, nopal::stack::large_ones) ||
      is_of_pool(address, nopal::stack::small::in_use))
    return part::stacks;
  if (nopal::stack::is_ours(address))
    return part::join;
  return is_of_worker(address) ? part::deque : part::others;
}

// Whether the calling thread looks for work.
inline bool searches() noexcept {
  const unnoticed looking;
  const nopal::vproc::worker* const self = nopal::vproc::current();
  return nopal::vproc::is_worker(self) && self->host != nullptr && self->host->searches.get();
}

inline constexpr known_parts parts_of_nopal{part_at, searches};

} // namespace bench::counted
