// SPDX-License-Identifier: MIT
// Preemption: a strand that runs long gives way where others are ready to run.
//
//     for (const item& each : items) {   // a loop that neither forks nor waits
//       work_on(each);
//       nopal::poll();
//     }
//     {
//       const nopal::no_preemption whole;  // this fiber keeps its thread here, unless it waits
//       ...
//     }
//
// A timer tells a thread each tick (NOPAL_TICK, 10 ms) that its strand has to give way, if fibers
// are ready that the thread might run. The strand does so at its next fork, which compares the same
// word as ever, or at its next poll. It goes on when those have had their turn, perhaps on another
// thread; its open forks can be stolen meanwhile.
//
// Code that neither forks nor polls is not interrupted: it may hold a lock, of malloc say. After
// five ticks a spare thread begins to run what is ready, as for nopal::blocking.
//
// Rules: a strand that holds a lock of its thread (std::mutex) does not fork or poll, or does so in
// `no_preemption`; a nopal::mutex may be held.
#pragma once

#include "nopal/config.h"

#if !defined(NOPAL_SERIAL)
#include "nopal/base/count.h"
#include "nopal/sched/preemption.h"
#include "nopal/vproc/worker_deque.h"
#endif

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

#if defined(NOPAL_SERIAL)
inline void poll() noexcept {}
namespace detail {
constexpr bool stops_at_poll() noexcept { return false; }
} // namespace detail

struct NOPAL_TYPE no_preemption {
  [[nodiscard]] no_preemption() noexcept {}
  ~no_preemption() {}
};
#else
/// Gives way if the thread was told to, and throws nopal::cancelled if the strand is (cancel.h);
/// else it compares one word. No effect on a thread that runs no strands.
/// @par Threads
/// Any thread, any strand.
[[gnu::always_inline]] inline void poll() {
  if (!vproc::current_deque()->deque.allows_here()) [[unlikely]]
    sched::poll_slow();
}

namespace detail {
// The same, but returns whether the strand is cancelled, since a throw takes microseconds.
[[gnu::always_inline]] inline bool stops_at_poll() {
  return !vproc::current_deque()->deque.allows_here() && sched::stops_at_poll_slow();
}
} // namespace detail

/// As long as one exists, no strand of the fiber that made it is preempted; outside nopal::run, no
/// strand of the outermost fork or affine region. They may wait, yield, and be stolen all the same.
class NOPAL_TYPE no_preemption {
public:
  [[nodiscard]] no_preemption() noexcept : masks_{sched::current_masks()} { masks_->add(); }
  ~no_preemption() {
    masks_->subtract();
    sched::unmasked();
  }
  no_preemption(const no_preemption&) = delete;
  no_preemption& operator=(const no_preemption&) = delete;

private:
  base::count* const masks_;
};
#endif

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
