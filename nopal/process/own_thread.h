// SPDX-License-Identifier: MIT
// How a thread begins that the program has not asked for, and how it gets its turns.
#pragma once

#include "nopal/config.h"

#include <csignal>
#include <cstdint>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// A thread that calls f(). It takes no signals, which are for the program's own threads.
template <class F> std::thread own_thread(F f) {
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  std::thread begun{std::move(f)};
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return begun;
}

// A thread that asks the scheduler for short turns gets them sooner when it wakes up, also from a
// thread that computes. A kernel before Linux 6.12 knows nothing of that, and nothing changes.
inline void ask_for_short_turns() noexcept {
  struct { // sched_attr of the kernel, whose header the C library's does not go with
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } wanted{};
  wanted.size = sizeof wanted;
  wanted.policy = SCHED_OTHER;
  wanted.runtime = 100'000; // nanoseconds, the least that is accepted
  syscall(SYS_sched_setattr, 0, &wanted, 0);
}

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
