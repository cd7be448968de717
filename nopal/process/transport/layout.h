// SPDX-License-Identifier: MIT
// The memory of a process that others reach: one block, at the same address in every process.
//
//      block_at      control    the queue, the result, the words of barriers
//                    heap       cells of results, stacks that were swapped out
//                    guard      no access
//      region_at     region     the uni-address region, where tasks run; it is used from its upper
//                               end downwards
//
// Paper: uni-address-hpdc15, section 5 (uni-address region, RDMA region).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/config.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include NOPAL_PROCESS_QUEUE_HEADER

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Some 400 GiB below where the system puts anything, and among the addresses that AddressSanitizer
// and ThreadSanitizer leave to programs.
inline constexpr std::uintptr_t block_at = 0x7e90'0000'0000;
inline constexpr std::size_t least_guard = std::size_t{1} << 20;
inline constexpr std::size_t largest_guard = std::size_t{16} << 20;
inline constexpr std::size_t most_result = 1024; // bytes of a run's result, or of an error's text
inline constexpr unsigned most_processes = 4096;
inline constexpr unsigned barrier_rounds = 12; // log2 of that

// A word that several processes access. Each access is one operation on the whole word.
using word = base::atomic<std::uint32_t>;

using queue_type = queue_memory<8192>;

// What a run has come to: written by the process on which it ended, and passed on from process to
// process. The run's number is written last.
struct outcome {
  base::atomic<std::uint32_t> run{0};         // the number of the run that ended so
  base::handed_over<std::uint32_t> from{0};   // the process on which it ended
  base::handed_over<std::uint32_t> failed{0}; // the bytes are a remote_error's text
  base::handed_over<std::uint64_t> root{0};   // what was run
  base::handed_over<std::uint32_t> size{0};
  unsigned char bytes[most_result] = {};
};

// Ends of runs, and meetings (ends.h).
struct ends_block {
  alignas(64) outcome result;
  alignas(64) base::atomic<std::uint32_t> barriers[barrier_rounds]{};
};

struct control_block {
  queue_type queue;
  ends_block ends;
};

inline control_block& control() noexcept { return *reinterpret_cast<control_block*>(block_at); }

struct own_queue {
  queue_type& operator()() const noexcept { return control().queue; }
};

struct layout {
  std::size_t heap_size;
  std::size_t region_size;
  unsigned regions = 1; // one after the other; the baseline of iso-address has one for each process

  static unsigned regions_of(unsigned processes) noexcept {
    return NOPAL_PROCESS_REGIONS != 0 ? processes : 1;
  }

  static constexpr std::size_t pages(std::size_t bytes) noexcept {
    return (bytes + base::page_size() - 1) / base::page_size() * base::page_size();
  }
  std::uintptr_t heap_at() const noexcept { return block_at + pages(sizeof(control_block)); }
  // No frame that fits a region of up to 16 MiB is larger, so none leaps over the guard.
  std::size_t guard_size() const noexcept {
    return std::clamp(region_size, least_guard, largest_guard);
  }
  std::uintptr_t guard_at() const noexcept { return heap_at() + heap_size; }
  std::uintptr_t region_at() const noexcept { return guard_at() + guard_size(); }
  std::uintptr_t region_end() const noexcept { return region_at() + regions * region_size; }
  // The upper end of the region of a process.
  std::uintptr_t region_end_of(unsigned process) const noexcept {
    return region_at() + (process % regions + 1) * region_size;
  }
  std::size_t size() const noexcept { return region_end() - block_at; }
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
