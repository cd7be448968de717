// SPDX-License-Identifier: MIT
// Strands that ThreadSanitizer sees as ordered by forks and joins alone (NOPAL_RACES), so that one
// run of virtual workers reports the races of every schedule (docs/races.md).
//
// ThreadSanitizer takes what it calls a fiber for a thread. Here each strand has a fiber of its
// own, a `seen_strand`: a child gets one at its fork, and the main path keeps its own on whatever
// stack it goes on. Changes of fibers order nothing. What does:
//   fork    what its parent did is ordered before the child
//   join    what its children did is ordered before what the main path does next
//   wait    what a strand did before it woke another one (base::happens_before, happens_after)
//   use     what strands that use one worker's state, or one reducer's value, did with it, up to
//           their next fork, join or wait, in the order of the run (note_use)
// The scheduler has a fiber of which nothing is seen, and a strand is hidden while it runs the
// runtime's code, with what that allocates. While the scheduler enqueues a strand that waits, it
// orders for that strand.
//
// Frames of strands that are not ordered come to lie at the same addresses. So when a child ends,
// or a stack is empty, ThreadSanitizer forgets what it knows of the memory below.
//
// ThreadSanitizer tells some 250 threads apart, and makes each in a third of a millisecond. A child
// takes the fiber of a strand that its parent has joined, or a new one, or, where there are
// `most_seen`, that of the strand that has ended first, behind which it is then ordered.
//
// Thread rules: any thread; `keep_strands_apart` once, before the first fork. All but that, and the
// functions of a name with `strands_apart`, are called only where `strands_apart` is true.
// Paper: Feng, Leiserson: Efficient Detection of Determinacy Races in Cilk Programs (SPAA 1997), on
// why one serial run suffices for programs without locks.
#pragma once

#include "nopal/base/refused.h" // before the library's headers
#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

struct seen_strand;
inline constexpr unsigned most_seen = 240;

extern bool strands_apart;
bool are_apart() noexcept; // the same, for programs
// False: the program is not linked with ThreadSanitizer.
bool keep_strands_apart() noexcept;

// The calling thread's; null if strands are not apart.
seen_strand* this_strand() noexcept;
// The calling thread goes on as this strand. Null: nothing happens.
void go_on_as(seen_strand* strand) noexcept;
// Of the calling thread; nothing that it does is seen.
seen_strand* scheduler_strand() noexcept;

// A fork in this scope: the calling strand becomes its child, which is hidden. Null: too many forks
// are open, and the child is seen as a part of its parent.
seen_strand* begin_child(const void* scope) noexcept;
// The calling strand, this child, has ended, and its continuation was not stolen: the thread goes
// on with it.
void end_child(seen_strand* child) noexcept;
// The calling strand has ended, if it is a child of this scope; its continuation was stolen.
void end_detached_child(const void* scope) noexcept;
// The main path has joined the scope; or it has not forked.
void note_join(const void* scope) noexcept;
// The strand that has forked in the scope; null: none has since its last join.
seen_strand* main_path_of(const void* scope) noexcept;

// A strand without a parent, and its end, which the strand itself calls.
seen_strand* begin_strand() noexcept;
void end_strand() noexcept;

// The strand runs the runtime's code from now on, or the program's. The first returns whether the
// strand was shown.
bool hide_strand() noexcept;
void show_strand() noexcept;
// Around a wait: hidden meanwhile, and then as before. A strand that has not waited stays as it is.
void begin_wait() noexcept;
void end_wait() noexcept;
// Around what the scheduler does for the strand that has left its stack last.
void begin_enqueue() noexcept;
void end_enqueue() noexcept;
// What base::happens_before and happens_after do.
void release_for_strand(const void* key) noexcept;
void acquire_for_strand(const void* key) noexcept;
// Around the program's code that the runtime calls.
class shown {
public:
  shown() noexcept {
    if (strands_apart) [[unlikely]]
      show_strand();
  }
  ~shown() {
    if (strands_apart) [[unlikely]]
      hide_strand();
  }
  shown(const shown&) = delete;
  shown& operator=(const shown&) = delete;
};

// Around the runtime's code that a strand calls.
class unseen {
public:
  unseen() noexcept : shown_{strands_apart && hide_strand()} {}
  ~unseen() {
    if (shown_) [[unlikely]]
      show_strand();
  }
  unseen(const unseen&) = delete;
  unseen& operator=(const unseen&) = delete;

private:
  const bool shown_;
};

// The strand uses what others that run one after the other use, too, up to its next fork, join or
// wait.
void note_use(const void* key) noexcept;
void note_use_of_worker(unsigned number) noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
