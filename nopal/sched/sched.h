// SPDX-License-Identifier: MIT
//
// The slow paths of fork and join, and the scheduler behind them: random stealing of continuations.
#pragma once

#include "nopal/config.h"
#include "nopal/join/join.h"
#include "nopal/vproc/worker.h"

namespace nopal::inline NOPAL_ABI::sched {

using join::offer;
using join::scope_frame;
using vproc::seat;
using vproc::worker;

// Called by thunks (fork.h).
// ---------------------------------------------------------------------------

// The push found the limit lowered, or was not tried, amid exceptions. True: the child
// `run(closure)` has run and is done with (a guest's fork, or one amid exceptions); the thunk
// returns. False: the thunk goes on as if nothing had happened.
bool fork_slow(offer* of, void (*run)(void*), void* closure) noexcept;

// The pop found the offer public, or could not tell. Returns if the continuation is still ours; if
// not, the child is finished and the call does not return.
void settle(offer* of) noexcept;
// The same for a child that threw; its exception has been captured.
void settle_failed(offer* of) noexcept;

// Called by affine.h.
// ---------------------------------------------------------------------------

// The whole of a thunk: `run(closure)` is a computation of its own, whose parent is not offered.
// Comes back on this thread.
void run_affine(offer* of, void (*run)(void*), void* closure) noexcept;

// Called by scopes (fork.h).
// ---------------------------------------------------------------------------

// After the join of a touched scope: rethrows the serially first failure, if any.
void finish_join(scope_frame* scope);
// The same in a destructor, which must not throw while another exception unwinds the scope.
void finish_join_in_destructor(scope_frame* scope);
[[noreturn]] void scope_misused() noexcept;

// When steals are forced: perhaps waits until a thief has taken what this worker has published.
void wait_for_thief(worker* self) noexcept;

// Within the scheduler.
// --------------------------------------------------------------------------------

// Makes the calling thread a guest for this fork: runs the child on a stack of ours, offers the
// rest.
void guest_fork(offer* of, void (*run)(void*), void* closure) noexcept;
// The outermost scope of this guest may go on, on its own thread. Called on that thread.
[[noreturn]] void guest_goes_on(worker* self, scope_frame* scope) noexcept;

// A detached child of this scope is finished: counts it, and finds something else to do. On the
// scheduler's stack.
[[noreturn]] void child_done(void* scope) noexcept;
// Looks for work and runs it; on the scheduler's stack.
[[noreturn]] void schedule(worker* self) noexcept;
// Make a switch known to the tools: from the thread's own stack to worker::stack, and back.
void note_stack(worker* self) noexcept;
void note_thread_stack(const seat* place) noexcept;
// The calling thread takes this seat; its scheduler runs below that stack pointer.
void occupy(seat* place, std::uintptr_t scheduler_stack) noexcept;

struct waiter;

struct found {
  scope_frame* stolen;   // a continuation, or
  scope_frame* finished; // a guest's own outermost scope, or
  scope_frame* joined;   // one that was left to this worker because it was giving pages of its
                         // stack back, or
  waiter* ready;         // a strand that has what it waited for (waiting.h)
  seat* home;
};
// Blocks until there is something to run.
found search(worker* self) noexcept;
// Something became public in the name of this computation: wakes a sleeper if nobody is looking.
void announce_work(worker* self, seat* home) noexcept;
// A strand of it became ready.
void announce_ready(seat* home) noexcept;
void wake(worker* self, seat* sleeper) noexcept;

// The table of workers.
// --------------------------------------------------------------------------------

// Workers there ever were; they stay. Those in use have numbers below worker_count.
std::uint32_t workers_ever() noexcept;
std::uint32_t worker_count() noexcept;
worker* worker_at(std::uint32_t number) noexcept;
// Seats of the pool, likewise.
std::uint32_t pool_size() noexcept;
seat* pool_seat(std::uint32_t number) noexcept;
// Starts the pool if it does not run yet.
void start() noexcept;
// A worker that nobody is, that of the lowest number, and its return; a seat for a guest, likewise.
worker* take_worker() noexcept;
void return_worker(worker* unused) noexcept;
bool lower_one_is_unused(const worker* than) noexcept;
seat* take_seat() noexcept;
void return_seat(seat* unused) noexcept;
extern vproc::idle_count idle;

} // namespace nopal::inline NOPAL_ABI::sched
