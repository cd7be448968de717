// SPDX-License-Identifier: MIT
// Atomics that count: the names of nopal/base/atomic.h, each reporting to the directory.
//
// The library nopal_counted and the programs that link it are compiled with NOPAL_ATOMICS, which
// makes atomic.h include this file. They compute what the ordinary library computes, slower.
#pragma once

#include "bench/counted/directory.h"

#include <atomic>
#include <cstdint>

namespace nopal::base {

using bench::counted::event;

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

  T load(order how = seq_cst) const noexcept {
    bench::counted::note_read(this);
    return value_.load(how);
  }
  void store(T value, order how = seq_cst) noexcept {
    bench::counted::note_write(this);
    value_.store(value, how);
  }
  T exchange(T value, order how = seq_cst) noexcept {
    note_rmw();
    return value_.exchange(value, how);
  }
  T fetch_add(T value, order how = seq_cst) noexcept {
    note_rmw();
    return value_.fetch_add(value, how);
  }
  T fetch_sub(T value, order how = seq_cst) noexcept {
    note_rmw();
    return value_.fetch_sub(value, how);
  }
  T fetch_and(T value, order how = seq_cst) noexcept {
    note_rmw();
    return value_.fetch_and(value, how);
  }
  T fetch_or(T value, order how = seq_cst) noexcept {
    note_rmw();
    return value_.fetch_or(value, how);
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure) noexcept {
    note_rmw();
    return value_.compare_exchange_weak(expected, desired, success, failure);
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure) noexcept {
    note_rmw();
    return value_.compare_exchange_strong(expected, desired, success, failure);
  }

private:
  // An exchange that fails takes the line from the other threads all the same.
  void note_rmw() const noexcept {
    bench::counted::note(event::rmws);
    bench::counted::note_write(this);
  }

  std::atomic<T> value_;
};

class lock_word : public atomic<std::uint32_t> {
public:
  using atomic::atomic;

  bool compare_exchange_strong(std::uint32_t& expected, std::uint32_t desired, order success,
                               order failure) noexcept {
    const bool taken = atomic::compare_exchange_strong(expected, desired, success, failure);
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

inline std::uintptr_t load_relaxed_word(std::uintptr_t at) noexcept {
  bench::counted::note(event::walked_words);
  bench::counted::note_read(reinterpret_cast<const void*>(at));
  return *reinterpret_cast<const volatile std::uintptr_t*>(at);
}
[[gnu::always_inline]] inline void acquire_what_was_read() noexcept {
  std::atomic_signal_fence(std::memory_order_acquire);
}
inline bool replace_word(std::uintptr_t at, std::uintptr_t& expected,
                         std::uintptr_t desired) noexcept {
  bench::counted::note(event::rmws);
  bench::counted::note_write(reinterpret_cast<const void*>(at));
  return __atomic_compare_exchange_n(reinterpret_cast<std::uintptr_t*>(at), &expected, desired,
                                     false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void wait_briefly(unsigned n) noexcept;

} // namespace nopal::base
