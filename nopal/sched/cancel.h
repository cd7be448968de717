// SPDX-License-Identifier: MIT
// How strands are told to stop, and find out that they are to.
//
// Who cancels writes that down first (a region's mark, a scope's failure), and tells all vprocs by
// a bit of their signal word. A vproc whose strand is not to stop takes the bit, and is told again
// if it goes on with another strand while anything is cancelled. If the strand is to stop the bit
// stays, so that each of its forks and polls comes here.
//
// Orders: the bit is the order S of vproc/signal_word.h. The count of what is cancelled is raised
//         before vprocs are told; a vproc that has taken its bit sees the count (T there). A group
//         looks at the count when it has its vproc: who announced before has found that vproc in
//         the table, or the group sees the count (both seq_cst: vprocs_ever in table.cc, and the
//         tally in join/cancelable.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/join.h"
#include "nopal/sched/forks.h"
#include "nopal/vproc/worker.h"

#include <cstdint>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// Any thread, after it has written down what is cancelled; and once that has ended, as often.
void announce_stop() noexcept;
void stop_ended(std::uint32_t times = 1) noexcept;

// Any thread: the strands of that node are to stop. Does not wait for them.
void cancel(join::cancelable& node) noexcept;

// Whether anything is cancelled.
bool anything_stops() noexcept;
// The vproc goes on with another strand, or elsewhere in one.
void look_at_next_fork(vproc::vproc* here) noexcept;

// The calling strand: whether it is to stop. Not while an exception unwinds it.
bool stops_here() noexcept;
// Throws `cancelled` if the calling strand is to stop.
void stop_if_told();

// As finish_children (forks.h); throws `cancelled` if the calling strand is to stop.
bool finish_region(join::region_frame* scope);
// In the destructor of the scope, whose region nobody cancels any more.
void end_region(join::region_frame* scope);

// The regions that the calling strand stands in, up to the nearest shield; the innermost first.
std::vector<const join::cancelable*> enclosing_regions();

// Around a scope that shields its children.
void begin_shield() noexcept;
void end_shield() noexcept;

// Alternatives of which one may be the answer (either.h): none starves another, as long as they are
// announced.
void begin_alternatives() noexcept;
void end_alternatives() noexcept;
bool any_alternatives() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
