// SPDX-License-Identifier: MIT
// The timer: it tells a vproc to preempt its strand where others are ready to run.
//
// One thread, started when a fiber first becomes ready. At each tick it looks at all vprocs. One
// that runs a strand, while a fiber is ready that it might run or an action of it waits, is told
// (sync/signal_word.h). Where nothing has competed for some ticks the timer sleeps until a fiber
// becomes ready.
//
// A vproc that does not take its signal for kPatience ticks runs code that neither forks nor polls.
// Nothing interrupts that: it may hold a lock, of malloc say. Instead a spare thread takes the
// vproc's place, as for `blocking`, until the vproc takes its signal. There are at most 256 such
// spares; where one more is wanted, the timer says so, once.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct vproc;

// The calls that lend the place of a vproc that does not take its signals, and take it back.
struct stand_ins {
  void (*lend)(vproc*) noexcept;
  void (*take_back)(vproc*) noexcept;
};

void open_timer(bool without_barrier, unsigned tick_ms, stand_ins calls) noexcept;

// Any thread, after a fiber was made ready for others to find.
void want_ticks() noexcept;

// The vproc takes the signal to preempt its strand. A spare in its place is no longer needed.
void heed_preemption(vproc* host) noexcept;

// Alternatives of which one may be the answer (nopal/either.h): between these two calls no
// alternative starves another. Precondition: the pool has started.
void begin_alternatives() noexcept;
void end_alternatives() noexcept;
bool any_alternatives() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
