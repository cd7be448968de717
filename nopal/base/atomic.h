// SPDX-License-Identifier: MIT
//
// The only door to atomics. The runtime names `atomic`, the orders and the functions below. A build
// that puts others in their place names the header that declares them (NOPAL_ATOMICS, quotes
// included), for all files of a program: the model checker's do, so that the text that ships is the
// text that is checked.
//
// Barriers: `light_barrier` and `heavy_barrier` are the two halves of an asymmetric fence. If a
// thread runs  store A; light_barrier; load B  and another  store B; heavy_barrier; load A,  at
// least one of the two loads sees the other's store. The light half costs the processor nothing;
// the heavy half is membarrier(2) and makes every running thread of the process pass a full fence
// (barrier.cc).
#pragma once

#if defined(NOPAL_ATOMICS)
#include NOPAL_ATOMICS
#else
#include <atomic>
#include <cstdint>

namespace nopal::base {

template <class T> using atomic = std::atomic<T>;

// The word of a spin lock, so that a build whose atomics count can tell how often one is taken.
using lock_word = atomic<std::uint32_t>;

// For plain data that one thread hands to another through an atomic: the model checker finds the
// race.
template <class T> using handed_over = T;

inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

#if defined(__SANITIZE_THREAD__)
#define NOPAL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NOPAL_TSAN 1
#endif
#endif

// ThreadSanitizer does not follow fences; a read-modify-write of one shared word orders at least as
// much.
#if defined(NOPAL_TSAN)
inline std::atomic<unsigned> fence_word{0};
inline void full_fence() noexcept { fence_word.fetch_add(1, std::memory_order_seq_cst); }
#else
// A locked instruction orders on x86-64 what mfence orders, but for streaming stores; compilers
// make an mfence of a fence.
[[gnu::always_inline]] inline void full_fence() noexcept {
  volatile std::uint32_t word = 0;
  __atomic_fetch_or(&word, 0u, __ATOMIC_SEQ_CST);
}
#endif

[[gnu::always_inline]] inline void light_barrier() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void heavy_barrier() noexcept;

// One word of memory that others may be writing, and the acquire that makes it good to follow it.
[[gnu::always_inline]] inline std::uintptr_t load_relaxed_word(std::uintptr_t at) noexcept {
  return *reinterpret_cast<const volatile std::uintptr_t*>(at);
}
[[gnu::always_inline]] inline void acquire_what_was_read() noexcept {
  std::atomic_signal_fence(std::memory_order_acquire); // loads are not reordered on x86-64
}
// Atomically and relaxed: if it is `expected`, replaces it; else says in `expected` what it is.
[[gnu::always_inline]] inline bool replace_word(std::uintptr_t at, std::uintptr_t& expected,
                                                std::uintptr_t desired) noexcept {
  return __atomic_compare_exchange_n(reinterpret_cast<std::uintptr_t*>(at), &expected, desired,
                                     false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

inline void spin_pause() noexcept { __builtin_ia32_pause(); }

// The n-th wait of somebody who spins: a pause at first, later the rest of the time slice.
void wait_briefly(unsigned n) noexcept;

} // namespace nopal::base
#endif
