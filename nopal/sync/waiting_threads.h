// SPDX-License-Identifier: MIT
// How many threads wait until another one wakes them, so that a thread can tell that none is left
// that could (sched/deadlock.h).
//
// A thread counts itself in when it cannot wake anybody before it is woken itself; who wakes it
// counts it out before that. So a thread that was woken does not count, though it may not have run
// yet, nor does it count twice if it waits again at once.
//
// Contract:  if `look` returns the same twice, and the number is that of all threads of the process
//            in between, then no thread has run or was woken in between but the caller, which sees
//            what each did before it counted itself in.
// Invariant: the number is at most that of the threads that wait and were not woken. It is less for
//            a moment where a waker is faster than the thread that counts itself in.
// Orders:
//   W  count_in releases what the thread did, and `look` acquires it. The order of count_in and
//      count_out is that of the changes of one word: a waker counts out a thread and then itself
//      in, and who sees the second sees the first. The upper half counts each count_out, so that
//      a thread that was woken and waits again meanwhile shows.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

class waiting_threads {
public:
  struct state {
    std::uint64_t word;

    std::uint32_t number() const noexcept { return static_cast<std::uint32_t>(word); }
    bool operator==(const state&) const = default;
  };

  void count_in() noexcept { word_.fetch_add(1, base::release); } // W
  void count_out() noexcept { word_.fetch_add(kOneWoken - 1, base::relaxed); }
  state look() const noexcept { return {word_.load(base::acquire)}; } // W

private:
  static constexpr std::uint64_t kOneWoken = std::uint64_t{1} << 32;

  base::atomic<std::uint64_t> word_{0};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
