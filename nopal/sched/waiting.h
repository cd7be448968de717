// SPDX-License-Identifier: MIT
//
// Strands that wait for something else than their children: a mutex, a condition.
//
// Such a strand stops anywhere, with offers above it on its stack. Its thread leaves the worker,
// that is, the stack and the deque with these offers, to the strand, and goes on as another worker.
// Thieves take from the deque that was left as from any other. When the strand has what it waited
// for it is ready; a thread that looks for work goes on with it, as the worker that was left.
//
//   running --suspend--> waiting --make_ready--> ready --search--> running, on any thread
//
// A pool thread goes on with any, a guest with those of its own computation. A thread that is no
// worker waits itself.
#pragma once

#include "nopal/config.h"
#include "nopal/sched/sched.h"
#include "nopal/vproc/lines.h"

namespace nopal::inline NOPAL_ABI::sched {

// In the frame of the function that waits.
struct waiter : arch::context {
  // Puts it where it will be found, as the last access to it; or says no: it need not wait.
  bool (*enqueue)(waiter*, void*);
  void* argument;
  base::handed_over<waiter*> next{nullptr}; // for whoever has it
  worker* left = nullptr;                   // null: a thread that is no worker
  join::exception_state exceptions{};
  int error = 0;
  vproc::wake_once woken; // such a thread's
};

// Comes back, perhaps on another thread, after make_ready, or at once if enqueue said no.
void suspend(bool (*enqueue)(waiter*, void*), void* argument) noexcept;

// Anybody, once.
void make_ready(waiter* strand) noexcept;

// A thread that is no worker: blocks until that, or not at all if enqueue says no.
void wait_as_thread(waiter& here) noexcept;

// Within the scheduler: takes the one that has been ready longest, of computation `home` if not
// null; null if there is none. And whether there is one.
waiter* take_ready(const seat* home) noexcept;
bool any_ready(const seat* home) noexcept;
// A thread that has nothing to go on with becomes the worker of the lowest number that is free, so
// that thieves do not search for ever among as many as once had to wait. One that sleeps or rests
// keeps its number until it has something to do.
worker* renumbered(worker* self) noexcept;
// On the scheduler's stack.
[[noreturn]] void resume_waiter(worker* self, waiter* strand) noexcept;

// What is to be done with a stack whose pages an idle worker gives back (stack::errand): a waiter
// is told from a scope by the lowest bit.
inline void* errand_of(waiter* strand) noexcept {
  return reinterpret_cast<void*>(
      reinterpret_cast<std::uintptr_t>(static_cast<arch::context*>(strand)) | 1);
}
inline waiter* waiter_of(void* errand) noexcept {
  const auto word = reinterpret_cast<std::uintptr_t>(errand);
  return (word & 1) == 0
             ? nullptr
             : static_cast<waiter*>(reinterpret_cast<arch::context*>(word & ~std::uintptr_t{1}));
}

} // namespace nopal::inline NOPAL_ABI::sched
