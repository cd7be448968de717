// SPDX-License-Identifier: MIT
// Notices that no strand can go on, and tells what each waits for.
//
// All wait for ever if each thread of the process waits until another one wakes it, no alarm is
// set, no strand waits for an event of the system, and no signal handler of the program's could
// wake any. A thread that Nopal did not begin counts as long as it runs, blocks or waits elsewhere:
// only those that wait in Nopal are known to wake nobody. So a program is ended only where that is
// certain; it may ask for the report itself (nopal::report_waiting).
//
// A thread that goes to sleep last looks, first a little later and then ever more seldom: threads
// of the program may end, and alarms be taken back. Nothing is done while strands run.
//
// Why it is certain: sync/waiting_threads.h. What wakes a strand is a thread; a thread that rings
// alarms, or has taken events, does not count as one that waits until it has made all ready that
// they are for.
#pragma once

#include "nopal/config.h"

#include <cstdint>
#include <limits>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {
class choice;
}

namespace nopal::inline NOPAL_ABI::sched {

// While a thread sleeps.
class deadlock_watch {
public:
  // Called when the thread has counted itself as one that waits, and at the time that the call
  // before has returned, or earlier. Ends the program if no strand can go on.
  std::int64_t next() noexcept;

private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::int64_t pause_ns_ = 0; // 0: `next` was not called yet
  std::int64_t due_ = kNever; // kNever: another thread looks
};

// A thread that runs no strands waits while this lives. Its waker counts it out.
struct thread_that_waits {
  explicit thread_that_waits(const sync::choice* for_what);
  ~thread_that_waits();
  thread_that_waits(const thread_that_waits&) = delete;
  thread_that_waits& operator=(const thread_that_waits&) = delete;

  const sync::choice* const waits; // null: it is not known for what
  thread_that_waits* next;         // the two belong to the list of all such threads
  thread_that_waits* before;
};

// How often it was looked so far whether any strand can go on.
std::uint64_t deadlock_looks() noexcept;

// Prints a line for each object that strands wait for, and how many do. Any thread, at any time; no
// strand stops for it.
void report_waits();

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
