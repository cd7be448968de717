// SPDX-License-Identifier: MIT
// parlaylib's scheduler, made of Nopal, for a checkout of parlaylib that is not changed. Programs
// are compiled as C++20, with both checkouts' headers and `-include clients/parlaylib/nopal.h`.
//
// <parlay/parallel.h> declares four functions and includes one of its own schedulers, which defines
// them. This header takes the place of the one for OpenCilk: it chooses that one, and defines the
// name that guards it, so that its text is left out.
//
// A worker's number: worker_id() of a strand is the same up to its next fork or join; behind these
// the strand may be on another worker, as on OpenCilk. A reference into a WorkerSpecific is the
// strand's own until then. Threads: one of the program's own at a time may use what counts workers
// (WorkerSpecific, worker_id); that is checked. The rest may be called by any thread.
#pragma once

#if __has_include(<parlay/parallel.h>) // else parlay builds a file of another library

#if defined(PARLAY_PARALLEL_H_)
#error "nopal: clients/parlaylib/nopal.h comes before every header of parlaylib (-include)"
#endif

#include "nopal/arena.h"
#include "nopal/fork.h"
#include "nopal/loop.h"
#include "nopal/per_worker.h"
#include "nopal/runtime.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

#define PARLAY_OPENCILK
#define PARLAY_INTERNAL_SCHEDULER_PLUGINS_OPENCILK_H_
#include <parlay/parallel.h>

namespace parlay {

inline std::size_t num_workers() {
  static const std::size_t number = nopal::num_workers();
  return number;
}

inline std::size_t worker_id() {
  const std::size_t id = nopal::worker_index();
  if (id >= num_workers()) [[unlikely]] {
    std::fputs(
        "nopal: two threads of the program call parlay::worker_id() at a time, or one calls it "
        "beside nopal::blocking; only one thread may use parlay's numbers of workers\n",
        stderr);
    std::abort();
  }
  return id;
}

template <typename Left, typename Right> inline void par_do(Left&& left, Right&& right, bool) {
  static_assert(std::is_invocable_v<Left&&> && std::is_invocable_v<Right&&>);
  nopal::scope s;
  s.fork([&left] { std::forward<Left>(left)(); });
  std::forward<Right>(right)();
  s.join();
}

// A loop splits where a worker has nothing to do; the granularity only says what is not worth that.
template <typename F>
inline void parallel_for(std::size_t first, std::size_t last, F&& f, long granularity, bool) {
  static_assert(std::is_invocable_v<F&, std::size_t>);
  if (first >= last)
    return;
  if (last - first == 1 || (granularity > 0 && last - first <= std::size_t(granularity)))
    for (std::size_t i = first; i < last; ++i)
      f(i);
  else
    nopal::for_index(first, last, [&f](std::size_t i) { f(i); });
}

// As many workers as Nopal has, at most p of which run f.
template <typename F> inline void execute_with_scheduler(unsigned p, F&& f) {
  nopal::arena{p}.run(std::forward<F>(f));
}

namespace internal {

// Where parlay finds what belongs to a thread. Compilers keep the address of a thread-local
// variable across calls, which a strand may leave on another thread; but not what a call returns.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes" // that parlay declares them inline
class ThreadListChunkData;
[[gnu::noinline]] extern const ThreadListChunkData& get_chunk_data();
[[gnu::noinline]] unsigned get_thread_id();

} // namespace internal
} // namespace parlay
#include <parlay/thread_specific.h>
#pragma GCC diagnostic pop
#endif
