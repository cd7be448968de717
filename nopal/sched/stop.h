// SPDX-License-Identifier: MIT
// How strands are told to stop, and how each finds out whether it is to stop.
//
// The canceller first marks what it cancels (a region's mark, a scope's failure), and then tells
// all vprocs by a bit of their signal word. A strand that finds the bit of its vproc looks at what
// it stands in (ancestry.h). If it is to stop, or an exception unwinds it, the bit stays; else it
// takes the bit.
//
// Invariant: a strand that is to stop runs on a vproc whose bit stands, or will stand as soon as
//            the canceller has told that vproc. So what stops depends on what is cancelled, and not
//            on who looked before. For if a strand X took the bit in vain, the vproc comes from X to
//            a strand that is to stop only by one of these ways, each of which raises the bit or
//            looks at the mark itself:
//   another strand    resumed, stolen or begun there: look_at_next_fork
//   a child of X      X owns the scope of the fork. A region's forks look at its mark, and those of
//                     a scope with a failed child at the failure (may_fork, nopal/scope.h). Any
//                     other fork stops nothing, so the child is to stop only if X is
//   X's parent        where X ends. What stops the parent stops X, but below a shield, whose end
//                     looks (cancel/cancel.cc). If a failure has overtaken a main path, its later
//                     children are overtaken, too
//   X, with fewer     an exception unwound it, and was caught. Then X took no bit
//     exceptions
//   X, with more      these are uncaught in regions only that began since; they are X's own, so a
//                     fork of theirs looks at the mark, or were marked later
//
// Orders: the bit is the order S of sync/signal_word.h. The count of what is cancelled is raised
//         before vprocs are told; a vproc that has taken its bit sees the count (T there). A group
//         looks at the count when it has its vproc: either an earlier canceller has found that
//         vproc in the table, or the group sees the count (both seq_cst: vprocs_ever in
//         vproc/table.cc, and base/count.h).
#pragma once

#include "nopal/config.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/worker_deque.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {
struct vproc;
}

namespace nopal::inline NOPAL_ABI::sched {

// Any thread, after it has marked what is cancelled: tells all vprocs, and wakes the strands that
// wait and are to stop.
void announce_stop() noexcept;
// Called when what was cancelled has ended: once for each announcement.
void stop_ended(std::uint32_t times = 1) noexcept;

// Whether anything is cancelled.
bool anything_stops() noexcept;
// Called before the thread goes on with another strand, if with any: if anything is cancelled, that
// strand looks at itself at its next fork or poll.
void look_at_next_fork() noexcept;
// Wakes the strand that waits on this stack, if it is to stop.
void wake_if_cancelled(stack::stack_id stack) noexcept;

// Whether the calling strand is to stop.
bool stops_here() noexcept;
// The same for a strand, whose thread does not show that it has so many uncaught exceptions.
bool stops_amid(unsigned uncaught) noexcept;
// Throws `cancelled` if the calling strand is to stop.
void stop_if_told();
// The same for what is done often: it looks where a poll would, and leaves other requests alone.
[[gnu::always_inline]] inline void stop_point() {
  if (!vproc::current_deque()->deque.allows_here()) [[unlikely]]
    stop_if_told();
}

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
