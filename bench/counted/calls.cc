// SPDX-License-Identifier: MIT
// The calls that are counted: membarrier, futex waits and wakes, locked mutexes.
//
// The linker sends calls of `syscall` and `pthread_mutex_lock` here (--wrap), with the ordinary
// library as well: these counts need no counting atomics.
#include "bench/counted/directory.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <cstdarg>

using bench::counted::event;
using bench::counted::note;

extern "C" {
long __real_syscall(long number, ...);
int __real_pthread_mutex_lock(pthread_mutex_t* mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  note(event::mutexes);
  return __real_pthread_mutex_lock(mutex);
}

long __wrap_syscall(long number, ...) {
  long a[6];
  va_list given;
  va_start(given, number);
  for (long& argument : a)
    argument = va_arg(given, long);
  va_end(given);
  const auto call = [&] { return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]); };
  if (number == __NR_membarrier && static_cast<int>(a[0]) == MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
    note(event::barriers);
    note(event::interruptions, bench::counted::awake() - 1);
  } else if (number == SYS_futex && (static_cast<int>(a[1]) == FUTEX_WAIT_PRIVATE ||
                                     static_cast<int>(a[1]) == FUTEX_WAIT_BITSET_PRIVATE)) {
    note(event::futex_waits);
    bench::counted::fall_asleep();
    const long result = call();
    if (result != 0) // else the thread that woke this one has counted it
      bench::counted::wake_up(1);
    return result;
  } else if (number == SYS_futex && static_cast<int>(a[1]) == FUTEX_WAKE_PRIVATE) {
    note(event::futex_wakes);
    const long woken = call();
    if (woken > 0)
      bench::counted::wake_up(static_cast<std::uint32_t>(woken));
    return woken;
  }
  return call();
}
}
