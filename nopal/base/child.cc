// SPDX-License-Identifier: MIT
// The handler that fork() calls in the child.
#include "nopal/base/child.h"

#include "nopal/base/atomic.h"
#include "nopal/base/clock.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/shared.h"

#include <pthread.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {
namespace {

// Threads that ask the dynamic linker, and threads that fork. No thread begins to ask while another
// one forks, so the child finds the linker's lock free.
//
// Orders: A  a thread that asks: asking += 1, reads forking. One that forks: forking += 1, reads
//            asking. All are sequentially consistent, so at least one of the two sees the other.
atomic<std::uint32_t> asking{0};
atomic<std::uint32_t> forking{0};
thread_local bool asks __attribute__((tls_model("initial-exec"))) = false; // or its handler does

void wait_for_linker() noexcept {
  using clock = std::chrono::steady_clock;
  if (asks)
    return;
  forking.fetch_add(1, seq_cst); // A
  for (const auto begun = clock::now();
       asking.load(seq_cst) != 0 && clock::now() - begun < std::chrono::seconds(1);) // A
    give_way();
}
void has_forked() noexcept {
  if (!asks)
    forking.fetch_sub(1, release);
}

// Written in a child while that has one thread.
std::uint32_t behind = 0;
bool of_mapped = false;

void begin_anew() noexcept {
  behind += 1;
  asking.store(asks ? 1 : 0, relaxed);
  forking.store(0, relaxed);
  of_mapped = shared != nullptr;
  if (of_mapped)
    return;
  this_process += 1;
  in_child::all_begin_anew();
}

// Before the program's constructors, which may fork, and whose handlers may use Nopal.
[[gnu::constructor(101)]] void watch_forks() noexcept {
  pthread_atfork(wait_for_linker, has_forked, begin_anew);
}

} // namespace

constinit const in_child* in_child::first_ = nullptr;

void in_child::all_begin_anew() noexcept {
  for (const in_child* each = first_; each != nullptr; each = each->next_)
    each->begin_anew_();
}

void renew(pthread_mutex_t* lock) noexcept { pthread_mutex_init(lock, nullptr); }

in_linker::in_linker() noexcept {
  asks = true;
  for (;;) {
    asking.fetch_add(1, seq_cst);   // A
    if (forking.load(seq_cst) == 0) // A
      return;
    asking.fetch_sub(1, release);
    while (forking.load(relaxed) != 0)
      give_way();
  }
}
in_linker::~in_linker() {
  asking.fetch_sub(1, release);
  asks = false;
}

std::uint32_t forks_behind() noexcept { return behind; }
bool is_child_of_mapped() noexcept { return of_mapped; }

void lost_in_child() noexcept {
  die("this process is a child of fork(), which a strand called, and that strand has come to the "
      "end of what began before: its parents and children may be on threads that exist in the "
      "parent process alone; call fork() where no strand runs, or let the child end by exec, "
      "_exit or exit");
}
void changing_in_parent() noexcept {
  die("this process is a child of fork(), and another thread of the parent was changing an object "
      "of Nopal (a channel, a mutex, a queue) when fork() was called; let the child make objects "
      "of its own");
}
void awaited_in_parent() noexcept {
  die("this process is a child of fork(), and a strand or thread of the parent waits at an object "
      "of Nopal (a channel, a mutex, a future) that the child uses, and does not exist here; let "
      "the child make objects of its own");
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
