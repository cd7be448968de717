// SPDX-License-Identifier: MIT
// Threads without work: how they are counted, sleep and are woken. Protocol: sync/README.md.
#pragma once

#include "nopal/config.h"
#include "nopal/sched/step.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// Whether the group that this thread waits for has finished.
bool group_finished(const worker* self) noexcept;
// Whether this vproc has something to go on with, and need not steal.
bool may_go_on(const worker* self) noexcept;
// Whether it is a spare that is no longer needed (spares.h), and waits for no group.
bool must_rest(const worker* self) noexcept;

// A vproc looks for work from begin_search to end_search. It counts as searching meanwhile, and
// publishers rely on that, unless it is bound to a group: then it takes that group's strands only.
void begin_search(const worker* self) noexcept;
void end_search(worker* self, const next_step& found) noexcept;
// Called during a search: the vproc joins an arena and is bound from now on, so it counts no more.
void join_while_searching(const worker* self, group* joined) noexcept;
// Makes ready the strands whose events have come (sync/watch.h).
void look_for_events() noexcept;
// Whether its last search found a fiber, in a program that waits for events. It then looks for
// forks no longer than it must, and sleeps, since events end its sleep at once.
bool lives_on_events(const worker* self) noexcept;
// The strand that it ran has ended. Returns for how many microseconds it is to rest in its next
// search, since its steals were in vain (sync/vain_steals.h).
unsigned note_end_of_run(const worker* self) noexcept;
void rest_after_vain_steals(worker* self, unsigned rest_us) noexcept;
// Whether it may steal without a search: not if events may have come, for which a search looks, nor
// where options say how strands are stolen.
bool may_steal_at_once(const worker* self) noexcept;
// It has, and runs what it stole.
void note_steal_at_once(const worker* self) noexcept;
// Sleeps until it is woken, unless a last look finds something.
void sleep(worker* self) noexcept;
// Takes a stack for a thief, which needs one before it steals if stacks may run out. False: there
// is none now.
bool take_stack(worker* self) noexcept;
// The same, but waits for one. False: it has none, and may_go_on is true.
bool wait_for_stack(worker* self) noexcept;
// Rests as a spare that is no longer needed, until it is wanted again.
void rest(worker* self) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
