// SPDX-License-Identifier: MIT
// What a process keeps for itself: its half of the queue, its heap, the task that it runs.
//
// A task is named by the place of its result: the process that spawned it, and the address of the
// cell there. Both fit a word, which moves with the frames of the task that will join it.
#pragma once

#include "nopal/arch/uni_address.h"
#include "nopal/config.h"
#include "nopal/join/failure.h"
#include "nopal/process/run/heap.h"
#include "nopal/process/transport/layout.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// {process, address} of a cell. Every process reads it alike.
using cell_reference = std::uint64_t;
inline constexpr unsigned address_bits = 48;
constexpr unsigned process_of(cell_reference ref) noexcept {
  return static_cast<unsigned>(ref >> address_bits);
}
inline constexpr std::uint64_t no_run = ~std::uint64_t{0} << address_bits; // no process's
inline cell* cell_of(cell_reference ref) noexcept {
  return reinterpret_cast<cell*>(ref & ((std::uint64_t{1} << address_bits) - 1));
}

// The steps of a steal, in the order of the paper's Table 3. `look` counts each try. A steal by
// message (peer.h) counts as a whole: as `take`.
enum class step : unsigned { look, take, copy, suspend, resume };
inline constexpr unsigned steps = 5;

// What a process has counted; `cycles` of the processor's clock.
struct counts {
  std::uint64_t tasks = 0; // whose continuation was offered
  std::uint64_t tries = 0;
  std::uint64_t steals = 0;
  std::uint64_t stolen_bytes = 0;
  std::uint64_t suspended = 0;
  std::uint64_t suspended_bytes = 0;
  std::uint64_t most_region = 0; // bytes of the region that were ever used at once
  std::uint64_t page_faults = 0; // of the whole process; faults that needed the disk are left out
  std::uint64_t cycles[steps] = {};
};

// The thread that runs tasks is its only user, but for `done`, which the thread of the progress
// lines reads too.
struct worker {
  queue_owner<own_queue> queue;
  std::uint32_t upper = 0;   // the upper end of the running task's segment, from the region's lower
  std::uintptr_t region = 0; // where the region begins
  std::uintptr_t region_bytes = 0;
  std::uint64_t home = no_run; // this process in the upper bits, as in a reference, during a run
  const join::exception_state* exceptions = nullptr; // of the thread that runs tasks
  heap cells;
  counts done;

  // The upper end of a child's segment, where its parent's context is this. With regions apart the
  // child of a task from elsewhere begins at the upper end of this process's own.
  std::uint32_t upper_of_child([[maybe_unused]] const void* context,
                               std::uintptr_t above_region) const noexcept {
    [[maybe_unused]] const auto at = reinterpret_cast<std::uintptr_t>(context);
    if constexpr (NOPAL_PROCESS_REGIONS != 0)
      if (at < arch::nopal_own_region[0] || at > arch::nopal_own_region[1])
        return distance(arch::nopal_own_region[1]);
    return static_cast<std::uint32_t>(above_region);
  }
  // How far above the lower end of the region this is: less than region_bytes if it lies there.
  std::uintptr_t above_region(const void* at) const noexcept {
    return reinterpret_cast<std::uintptr_t>(at) - region;
  }
  std::uint32_t distance(std::uintptr_t at) const noexcept {
    return static_cast<std::uint32_t>(at - region);
  }
  // The running task's segment, when it has pushed a context so far above the lower end.
  segment open_segment(std::uintptr_t lower) const noexcept {
    return {static_cast<std::uint32_t>(lower), upper};
  }
  cell_reference reference_to(const cell* own) const noexcept {
    return home | reinterpret_cast<std::uintptr_t>(own);
  }
  // The cell, if it is one of this process; else null.
  cell* if_own(cell_reference ref) const noexcept {
    const std::uint64_t at = ref ^ home;
    return at >> address_bits == 0 ? reinterpret_cast<cell*>(at) : nullptr;
  }
};

extern worker this_worker;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
