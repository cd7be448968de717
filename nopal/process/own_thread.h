// SPDX-License-Identifier: MIT
// How a thread begins that the program has not asked for.
#pragma once

#include "nopal/config.h"

#include <csignal>
#include <thread>
#include <utility>

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

} // namespace nopal::inline NOPAL_ABI::process
