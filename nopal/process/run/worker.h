// SPDX-License-Identifier: MIT
// What a process keeps for itself: its half of the queue, its heap, the task that it runs.
//
// A task is named by where its result will be: the process that spawned it, and the address of the
// cell there. Both fit a word, which goes with the frames of who will join it.
#pragma once

#include "nopal/arch/uni_address.h"
#include "nopal/config.h"
#include "nopal/join/failure.h"
#include "nopal/process/run/heap.h"
#include "nopal/process/transport/layout.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// {process, address} of a cell.
using cell_reference = std::uint64_t;
inline constexpr unsigned address_bits = 48;
constexpr unsigned process_of(cell_reference ref) noexcept {
  return static_cast<unsigned>(ref >> address_bits);
}
inline cell* cell_of(cell_reference ref) noexcept {
  return reinterpret_cast<cell*>(ref & ((std::uint64_t{1} << address_bits) - 1));
}

// The steps of a steal, in the order of the paper's Table 3. `look` counts each try.
// Of a steal by message (peer.h) `take` is all.
enum class step : unsigned { look, take, copy, suspend, resume };
inline constexpr unsigned steps = 5;

// What a process has counted; `cycles` of the processor's clock.
struct counts {
  std::uint64_t tasks = 0; // not those whose continuation was not offered
  std::uint64_t tries = 0;
  std::uint64_t steals = 0;
  std::uint64_t stolen_bytes = 0;
  std::uint64_t suspended = 0;
  std::uint64_t suspended_bytes = 0;
  std::uint64_t most_region = 0; // bytes of the region that one task's stack, or several, have used
  std::uint64_t page_faults = 0; // of the whole process that needed no disk
  std::uint64_t cycles[steps] = {};
};

struct worker {
  queue_owner<own_queue> queue;
  std::uintptr_t upper = 0;  // of the frames of the task that runs
  std::uintptr_t region = 0; // where the region begins
  std::uint64_t home = 0;    // this process in the upper bits, as in a reference
  const join::exception_state* exceptions = nullptr; // of the thread that runs tasks
  heap cells;
  counts done;

  // Where the frames of a child end whose parent's context is this.
  std::uintptr_t upper_of_child(const void* context) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(context);
    if constexpr (NOPAL_PROCESS_REGIONS != 0)
      if (at < arch::nopal_own_region[0] || at > arch::nopal_own_region[1])
        return arch::nopal_own_region[1];
    return at;
  }
  segment open_segment(const void* context) const noexcept {
    const auto lower =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context) - region);
    return {lower, static_cast<std::uint32_t>(upper - region)};
  }
  cell_reference reference_to(const cell* one) const noexcept {
    return home | reinterpret_cast<std::uintptr_t>(one);
  }
  // The cell, if it is here; else null.
  cell* if_here(cell_reference ref) const noexcept {
    const std::uint64_t at = ref ^ home;
    return at >> address_bits == 0 ? reinterpret_cast<cell*>(at) : nullptr;
  }
};

extern worker here;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
