// SPDX-License-Identifier: MIT
// The calling thread's state for entry.h. The functions that use it are never inlined: a compiler
// would keep its address across a change of threads. The first two are not instrumented: a strand
// enters, and another one, which need not be ordered behind it, leaves (base/races.h).
#include "nopal/vproc/entry.h"

#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/sanitizer.h"
#include "nopal/vproc/worker.h"

#include <pthread.h>

#include <utility>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

// Only this thread, and signal handlers that interrupt it, read and write this.
thread_local bool inside __attribute__((tls_model("initial-exec"))) = false;

// The child of fork() is outside, also if the scheduler had called what forked.
NOPAL_IN_CHILD([]() noexcept { inside = false; });

pthread_key_t key;
bool has_key = false;

// The C library calls this when a thread ends, but not when the process does.
void thread_ends(void*) {
  NOPAL_ASSERT(!is_worker(current()),
               "a thread ended (pthread_exit, or it was cancelled) while it ran a strand: others "
               "wait for that strand; return from its function instead");
}

} // namespace

[[gnu::noinline]] NOPAL_SWITCHES void enter() noexcept {
  NOPAL_ASSERT(!inside, "a signal handler forks, and has interrupted Nopal's scheduler, which may "
                        "hold a lock; or a scheduler action forks: do not fork there");
  inside = true; // before the caller takes a lock
}

[[gnu::noinline]] NOPAL_SWITCHES void leave() noexcept { inside = false; }

[[gnu::noinline]] bool enter_if_outside() noexcept { return !std::exchange(inside, true); }

// A thread that did not enter stays inside.
[[gnu::noinline]] void leave_if(bool entered) noexcept { inside = !entered; }

void watch_ends_of_threads() noexcept {
  if (!has_key)
    has_key = pthread_key_create(&key, thread_ends) == 0;
}

void watch_this_threads_end() noexcept {
  if (has_key)
    pthread_setspecific(key, &inside); // any value but null
}

} // namespace nopal::inline NOPAL_ABI::vproc
