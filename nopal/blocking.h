// SPDX-License-Identifier: MIT
//
// Around code that waits.
//
//     auto reply = nopal::blocking([&] { return socket.read(); });
//
// blocking(f) calls f, and while f runs another thread takes this one's place among the workers, so
// that a call that waits (for input, a lock, a sleep) costs no parallelism. What was forked above
// can be stolen as ever. It takes a microsecond or two when a spare thread rests already, and the
// start of a thread when none does; as many threads are kept as have been in f at the same time.
// Where the thread is no worker, f is just called.
//
// It returns what f returns and lets its exceptions through. Thread rules: any thread.
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

} // namespace nopal::inline NOPAL_ABI
