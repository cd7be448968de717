// SPDX-License-Identifier: MIT
// The descriptors of the runtime itself: an epoll, and the alarm, which is an eventfd in it.
//
// A program may close descriptors that it does not know (close_range, as daemons do), and open
// files of its own that get the numbers. So the runtime never reads from these two and never writes
// to them. The alarm is always writable; who rings it asks the epoll to report that. For this the
// kernel looks for the alarm's file and number in that epoll, and refuses where one of the three is
// another's.
//
// What is left: between a check and the epoll_wait that follows it, another thread may close the
// epoll and open one of its own at that number, whose events are taken then; and an epoll of the
// program's at the one number that has in it a file at the other one is taken for the runtime's.
// Their numbers are above those that programs get first.
//
// In the child of fork() they are the parent's. The child closes its copies, and makes its own when
// it first needs them.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

inline constexpr int kAlarm = -1; // stands for a descriptor in the alarm's event

enum class own_are : unsigned char { as_before, made_anew, refused };
// Makes them if there are none, or if one was lost. Refused: errno says why. Any thread.
own_are check_own() noexcept;

int own_epoll() noexcept;
int own_alarm() noexcept;

// Whether this epoll and this alarm in it are still the runtime's. Changes neither.
bool is_own(int epoll, int alarm) noexcept;
// From now on the epoll reports the alarm, or no longer. False: one of them was lost.
bool ring(int epoll, int alarm, bool on) noexcept;

// An epoll with the alarm in it, by which a thread that waits and runs no strands is woken
// (blocked.h): who rings there makes it readable. A thread has one from its first wait until it
// ends.
struct bell {
  int epoll = -1;
  int alarm = -1;
};
// Its epoll is -1 where the system refuses one. One that was lost is set to -1 by who finds it so.
bell& this_threads_bell() noexcept;

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
