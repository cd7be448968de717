// SPDX-License-Identifier: MIT
// Atomics that count: the names of nopal/base/atomic.h, each reporting to the directory.
//
// The library nopal_counted and the programs that link it are compiled with NOPAL_ATOMICS, which
// makes atomic.h include this file. They compute what the ordinary library computes, slower. Each
// operation says in which file it stands, from which the directory knows the part (parts.h).
#pragma once

#include "nopal/config.h"

#include "bench/counted/directory.h"

#include <atomic>
#include <cstdint>
#include <source_location>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

using bench::counted::event;
using access_at = std::source_location;

using order = std::memory_order;
inline constexpr order relaxed = std::memory_order_relaxed;
inline constexpr order acquire = std::memory_order_acquire;
inline constexpr order release = std::memory_order_release;
inline constexpr order acq_rel = std::memory_order_acq_rel;
inline constexpr order seq_cst = std::memory_order_seq_cst;

template <class T> class atomic {
public:
  constexpr atomic() noexcept = default;
  constexpr atomic(T value) noexcept : value_{value} {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order how = seq_cst, access_at at = access_at::current()) const noexcept {
    bench::counted::note_read(this, at.file_name());
    return value_.load(how);
  }
  void store(T value, order how = seq_cst, access_at at = access_at::current()) noexcept {
    bench::counted::note_write(this, at.file_name());
    value_.store(value, how);
  }
  T exchange(T value, order how = seq_cst, access_at at = access_at::current()) noexcept {
    note_rmw(at);
    return value_.exchange(value, how);
  }
  T fetch_add(T value, order how = seq_cst, access_at at = access_at::current()) noexcept {
    note_rmw(at);
    return value_.fetch_add(value, how);
  }
  T fetch_sub(T value, order how = seq_cst, access_at at = access_at::current()) noexcept {
    note_rmw(at);
    return value_.fetch_sub(value, how);
  }
  T fetch_and(T value, order how = seq_cst, access_at at = access_at::current()) noexcept {
    note_rmw(at);
    return value_.fetch_and(value, how);
  }
  T fetch_or(T value, order how = seq_cst, access_at at = access_at::current()) noexcept {
    note_rmw(at);
    return value_.fetch_or(value, how);
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure,
                             access_at at = access_at::current()) noexcept {
    note_rmw(at);
    return noted(value_.compare_exchange_weak(expected, desired, success, failure), at);
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure,
                               access_at at = access_at::current()) noexcept {
    note_rmw(at);
    return noted(value_.compare_exchange_strong(expected, desired, success, failure), at);
  }

private:
  // An exchange that fails takes the line from the other threads all the same.
  void note_rmw(access_at at) const noexcept {
    bench::counted::note(event::rmws);
    bench::counted::note_write(this, at.file_name());
  }
  bool noted(bool swapped, access_at at) const noexcept {
    if (!swapped)
      bench::counted::note_failed(this, at.file_name());
    return swapped;
  }

  std::atomic<T> value_;
};

class lock_word : public atomic<std::uint32_t> {
public:
  using atomic::atomic;

  bool compare_exchange_strong(std::uint32_t& expected, std::uint32_t desired, order success,
                               order failure, access_at at = access_at::current()) noexcept {
    const bool taken = atomic::compare_exchange_strong(expected, desired, success, failure, at);
    if (taken)
      bench::counted::note(event::spin_locks);
    return taken;
  }
};

template <class T> using handed_over = T;

inline void full_fence() noexcept {
  bench::counted::note(event::fences);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

[[gnu::always_inline]] inline void light_barrier() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void heavy_barrier() noexcept;

inline std::uintptr_t load_relaxed_word(std::uintptr_t at,
                                        access_at from = access_at::current()) noexcept {
  bench::counted::note(event::walked_words);
  bench::counted::note_read(reinterpret_cast<const void*>(at), from.file_name());
  return *reinterpret_cast<const volatile std::uintptr_t*>(at);
}
[[gnu::always_inline]] inline void acquire_what_was_read() noexcept {
  std::atomic_signal_fence(std::memory_order_acquire);
}
inline bool replace_word(std::uintptr_t at, std::uintptr_t& expected, std::uintptr_t desired,
                         access_at from = access_at::current()) noexcept {
  const auto* const word = reinterpret_cast<const void*>(at);
  bench::counted::note(event::rmws);
  bench::counted::note_write(word, from.file_name());
  const bool swapped =
      __atomic_compare_exchange_n(reinterpret_cast<std::uintptr_t*>(at), &expected, desired, false,
                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  if (!swapped)
    bench::counted::note_failed(word, from.file_name());
  return swapped;
}

void wait_briefly(unsigned n) noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
