// SPDX-License-Identifier: MIT
// blocking(f): calls f, which may wait, while another thread takes the place of this one.
//
//     auto reply = nopal::blocking([&] { return socket.read(); });
//
// So a call that waits (for input, a lock, a sleep) costs no parallelism. Thieves still take the
// open forks above. The change takes a microsecond or two if a spare thread rests already, and the
// start of a thread otherwise; as many threads are kept as have been in f at the same time.
// NOPAL_MAX_BLOCKING bounds them, 256 by default: a call beyond that waits, as for a semaphore,
// until an earlier one has returned, and the first that does so says it on standard error. In an
// arena another thread joins meanwhile, and a scheduler goes on with its other fibers. On a thread
// that runs no strands, f is just called.
// Returns what f returns and lets its exceptions through, also if the strand was cancelled
// meanwhile: what f has got is not lost, and the strand stops where it next forks or waits. If the
// strand is cancelled before, f is not called (cancel.h). Thread rules: any thread.
#pragma once

#include "nopal/base/closure.h"
#include "nopal/config.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/fibers/waits.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/spares.h"
#endif

#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// Calls f, which may wait, and returns what f does; another thread runs strands meanwhile.
/// @throws what f throws; `cancelled`, without a call of f, if the strand is cancelled before.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// A microsecond or two if a spare thread rests already; else the start of a thread.
template <class F>
  requires std::is_invocable_v<F>
std::invoke_result_t<F> blocking(F&& f) {
#if !defined(NOPAL_SERIAL)
  sched::stop_if_told();
  const fibers::blocking_place place;
  const vproc::lending lent;
#endif
  return base::call(std::forward<F>(f));
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
