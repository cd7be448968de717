// SPDX-License-Identifier: MIT
// What strands of some problems do: they wait for the clock, so that more workers than processors
// show the schedule too; and they use pages of their stack.
#pragma once

#include <sys/prctl.h>

#include <cerrno>
#include <ctime>
#include <stdexcept>

namespace bench {

// Waits that long, and returns it.
inline long pause_for(long us) {
  timespec left{us / 1'000'000, us % 1'000'000 * 1000};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
  return us;
}

// The kernel may prolong each pause by 50 us otherwise. Threads inherit this from their creator.
inline void make_pauses_exact() {
  if (prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) != 0)
    throw std::runtime_error("the kernel does not let this thread set its timer slack");
}

// About a page of a frame. Compilers must keep all of it, since its address leaves the function.
struct page_of_frame {
  page_of_frame() {
    bytes[0] = 0;
    asm volatile("" : : "r"(bytes) : "memory");
  }
  char bytes[4000];
};

// Uses that many pages of stack, one after the other, and says so.
[[gnu::noinline]] inline long go_deep(long pages) {
  if (pages == 0)
    return 0;
  const page_of_frame own;
  return 1 + own.bytes[0] + go_deep(pages - 1);
}

} // namespace bench
