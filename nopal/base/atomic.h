// SPDX-License-Identifier: MIT
// The only header that includes <atomic>. A build can replace all that is declared here, for all
// files of a program: NOPAL_ATOMICS then names the header to include, quotes included. The model
// checker does so, and thus checks the text that ships.
//
// Barriers: `light_barrier` and `heavy_barrier` are the two halves of an asymmetric fence. If a
// thread runs  store A; light_barrier; load B  and another  store B; heavy_barrier; load A,  at
// least one of the two loads sees the other's store. The light half restrains only the compiler;
// the heavy half is membarrier(2): every running thread of the process executes a full fence.
#pragma once

#if defined(NOPAL_ATOMICS)
#include NOPAL_ATOMICS
#else
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"

#include <atomic>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

template <class T> using atomic = std::atomic<T>;

// The word of a spin lock: a type of its own, so that a build whose atomics count can count locks.
using lock_word = atomic<std::uint32_t>;

// For plain data that is handed over through an atomic: the model checker reports a race on it.
template <class T> using handed_over = T;

using enum std::memory_order;

#if defined(NOPAL_TSAN)
// ThreadSanitizer does not follow fences. Read-modify-writes of one shared word order at least as
// much.
inline std::atomic<unsigned> fence_word{0};
inline void full_fence() noexcept { fence_word.fetch_add(1, std::memory_order_seq_cst); }
#elif defined(__SANITIZE_ADDRESS__)
// A fence without a local word: if GCC inlines this into a function that is not instrumented, it
// poisons such a word at the end of its scope, and nothing takes the poison away.
[[gnu::always_inline]] inline void full_fence() noexcept {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#else
// On x86-64 a locked instruction orders what mfence orders, except streaming stores. For a fence,
// compilers emit mfence, which is slower.
[[gnu::always_inline]] inline void full_fence() noexcept {
  volatile std::uint32_t word = 0;
  __atomic_fetch_or(&word, 0u, __ATOMIC_SEQ_CST);
}
#endif

[[gnu::always_inline]] inline void light_barrier() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void heavy_barrier() noexcept;

// Loads one word of memory that others may be writing. After acquire_what_was_read the caller may
// also read what the word points to.
[[gnu::always_inline]] inline std::uintptr_t load_relaxed_word(std::uintptr_t at) noexcept {
  return *reinterpret_cast<const volatile std::uintptr_t*>(at);
}
[[gnu::always_inline]] inline void acquire_what_was_read() noexcept {
  std::atomic_signal_fence(std::memory_order_acquire); // x86-64 does not reorder loads
}
// A relaxed compare-and-swap. If it fails, `expected` is the value that the word has.
[[gnu::always_inline]] inline bool replace_word(std::uintptr_t at, std::uintptr_t& expected,
                                                std::uintptr_t desired) noexcept {
  return __atomic_compare_exchange_n(reinterpret_cast<std::uintptr_t*>(at), &expected, desired,
                                     false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

// For a thread that spins, with n = 1, 2 and so on: a pause, or at each 64th call its time slice.
void wait_briefly(unsigned n) noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
#endif
