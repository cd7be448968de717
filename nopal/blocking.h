// SPDX-License-Identifier: MIT
//
// Around code that waits, or that brings threads of its own.
//
//     auto reply = nopal::blocking([&] { return socket.read(); });
//     nopal::quiesce([&] { cblas_dgemm(...); });       // OpenBLAS uses all cores itself
//
// blocking(f) calls f, and while f runs another thread takes this one's place among the workers, so
// that a call that waits (for input, a lock, a sleep) costs no parallelism. What was forked above
// can be stolen as ever. It takes a microsecond or two when a spare thread rests already, and the
// start of a thread when none does; as many threads are kept as have been in f at the same time.
// Where the thread is no worker, f is just called.
//
// quiesce(f) calls f, and while f runs the pool's workers that have nothing to do sleep, and those
// that become idle take nothing new, so that threads which f brings find the cores free. Strands
// that run already go on. What f forks runs on this thread alone, unless another is idle in an
// affine region. Quiet ends when the last of several has returned.
//
// Both return what f returns and let its exceptions through. Thread rules: any thread.
#pragma once

#include "nopal/config.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/sched/spares.h"
#endif

#include <functional>
#include <type_traits>
#include <utility>

namespace nopal::inline NOPAL_ABI {

template <class F>
  requires std::is_invocable_v<F>
std::invoke_result_t<F> blocking(F&& f) {
#if !defined(NOPAL_SERIAL)
  const sched::lending lent;
#endif
  return std::invoke(std::forward<F>(f));
}

template <class F>
  requires std::is_invocable_v<F>
std::invoke_result_t<F> quiesce(F&& f) {
#if !defined(NOPAL_SERIAL)
  struct quiet {
    quiet() noexcept { sched::begin_quiet(); }
    ~quiet() { sched::end_quiet(); }
    quiet(const quiet&) = delete;
    quiet& operator=(const quiet&) = delete;
  } const while_f_runs;
#endif
  return std::invoke(std::forward<F>(f));
}

} // namespace nopal::inline NOPAL_ABI
