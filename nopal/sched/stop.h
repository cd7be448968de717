// SPDX-License-Identifier: MIT
// How strands are told to stop, and how each finds out whether it is to stop.
//
// The canceller first marks what it cancels (a region's mark, a scope's failure), and then tells
// all vprocs by a bit of their signal word. A strand that finds its vproc's bit takes it, and looks
// at what it stands in (ancestry.h). If it is to stop, or an exception unwinds it, it sets the bit
// again.
//
// Invariant: a strand that is to stop runs on a vproc whose bit stands, or will when the canceller
//            has told that vproc. So what stops depends on what is cancelled, not on who looked.
//
// Why: if a strand X has taken the bit and is not to stop, its vproc can go on only with
//   another strand      that it resumes, steals or begins. It looks first (look_at_next_fork).
//   a child of X        X owns the fork's scope. If that is a region, the fork looks at its mark,
//                       and if a child has failed, at the failure (may_fork in nopal/scope.h). Else
//                       the child is to stop only if X is.
//   X's parent          when X ends. What stops the parent, a failure too, stops X; or X is below a
//                       shield, and the shield's end looks.
//   X itself            With fewer uncaught exceptions than before: it had set the bit again. With
//                       one more: a region where as many are uncaught is X's own, as above, or has
//                       begun, and was marked, since.
//
// Orders: the bit is the order S of sync/signal_word.h. The count of what is cancelled is raised
//         before vprocs are told; a vproc that has taken its bit sees the count (T there). A group
//         looks at the count when it has its vproc: either an earlier canceller has found that
//         vproc in the table, or the group sees the count (both seq_cst: vprocs_ever in
//         vproc/table.cc, and base/count.h).
#pragma once

#include "nopal/base/count.h"
#include "nopal/config.h"
#include "nopal/join/descent.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/worker_deque.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {
class computation;
struct vproc;
} // namespace nopal::inline NOPAL_ABI::vproc
namespace nopal::inline NOPAL_ABI::sync {
class choice;
}

namespace nopal::inline NOPAL_ABI::sched {

// Any thread, after it has marked what is cancelled: tells the vprocs that have a thread, and wakes
// the strands that are to stop, of those that wait below that node or on the stack of the address
// `also_on`. Calls `see` with each observer below the node; it places and removes nothing.
void announce_stop(join::ancestor& node, std::uintptr_t also_on = 0,
                   void (*see)(join::descendant*, void*) = nullptr,
                   void* argument = nullptr) noexcept;
// The same for the fibers of a computation, which are in no list (descent.h): looks at each stack
// that is in use.
void announce_stop_of_fibers(const vproc::computation& failed) noexcept;
// Called when what was cancelled has ended: once for each announcement.
void stop_ended(std::uint32_t times = 1) noexcept;

// Nodes that are cancelled, and failed children, for which strands are to stop.
extern base::count announced_stops;
inline bool anything_stops() noexcept { return announced_stops.any(); }
// Called before the thread goes on with another strand, if with any: if anything is cancelled, or
// an engine exists, that strand looks at itself at its next fork or poll.
void look_at_next_fork() noexcept;
// Which of the strands that wait are woken, and how.
struct waker {
  const vproc::computation* in = nullptr; // of this one or below it; null: of any
  bool for_all = false;                   // ready for all vprocs; else as others are
  // Called for each strand that waits, with what it waits for.
  void (*see)(const sync::choice&, void*) = nullptr;
  void* argument = nullptr;
};
// Wakes the strand that waits on this stack, if it is to stop.
void wake_if_cancelled(stack::stack_id stack, const waker& how = {}) noexcept;
// The same for all stacks that there ever were.
void wake_all_cancelled(const waker& how) noexcept;

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
