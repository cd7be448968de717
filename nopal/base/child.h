// SPDX-License-Identifier: MIT
// The child of fork(2): how it is told from its parent, and how each room begins anew there.
//
// fork() copies all memory and one thread. Of Nopal's other threads, groups, deques, queues, alarms
// and counts only their memory is left in the child, in whatever state it was. So the child forgets
// all that: what a room keeps for the process becomes what it was before the first fork of a
// strand, and new threads begin at the first use. No lock is taken before fork(), so it costs the
// parent nothing, and may be called anywhere: in a signal handler, on any thread, while a lock of
// Nopal is held. It waits for one thing: for a thread that asks the dynamic linker (in_linker),
// whose lock the child cannot reset.
//
// What is kept for a process is of one of these kinds:
//   in_child        objects of a file that its own function resets, locks included
//   per_process     an object that each process makes at its first use (base/per_process.h)
//   free lists      (scopes' states, names of reducers) right at any time; a few entries are lost
//   spin locks      each says in which process it was taken (base/spin_lock.h)
// repo.child finds locks and objects that are of none.
//
// Programs that are linked with nopal::mapped (shared.h) do none of this: their children go on with
// what they have a copy of, and no thread helps.
#pragma once

#include "nopal/config.h"

#include <pthread.h>

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

/// How many calls of fork() lie between the process that began the program and this one. It has
/// grown when fork() returns in the child. What belongs to one process alone keeps the number that
/// it was made under, and is not used under another.
/// A child that a system call makes without fork() (_Fork, clone) keeps its parent's number: POSIX
/// allows such a child no more than what a signal handler may do.
/// @par Threads
/// Any, and signal handlers.
std::uint32_t forks_behind() noexcept;

/// Whether this process is the child of one that is linked with nopal::mapped (shared.h). A thread
/// of Nopal's own that the parent had begun is not begun again here.
bool is_child_of_mapped() noexcept;

/// The process as the runtime sees it, which is another one where it has begun anew; not 0. Written
/// in a child while that has one thread.
inline constinit std::uint32_t this_process = 1;

/// A file's part in the child. An object of static storage, of which no constructor of the program
/// is ahead (NOPAL_IN_CHILD).
class in_child {
public:
  /// The function is called in the child before fork() returns there. It takes no lock, allocates
  /// nothing and calls no other room's part, so the order of the parts is of no account.
  explicit in_child(void (*begin_anew)() noexcept) noexcept
      : begin_anew_{begin_anew}, next_{first_} {
    first_ = this;
  }
  in_child(const in_child&) = delete;
  in_child& operator=(const in_child&) = delete;

  static void all_begin_anew() noexcept;

private:
  static const in_child* first_;

  void (*const begin_anew_)() noexcept;
  const in_child* const next_;
};
#define NOPAL_IN_CHILD(begin_anew)                                                                 \
  [[gnu::init_priority(101)]] const ::nopal::base::in_child part_in_child { begin_anew }

/// A mutex in the child: nobody holds it.
void renew(pthread_mutex_t* lock) noexcept;
template <class Mutex> void renew(Mutex& lock) noexcept { renew(lock.native_handle()); }

/// While it lives, the calling thread may hold the dynamic linker's lock. fork() on another thread
/// waits for its end, but not longer than a second: the thread that forks may have that lock
/// itself, in a constructor of a library that is being loaded, so that this one waits for it.
class in_linker {
public:
  in_linker() noexcept;
  ~in_linker();
  in_linker(const in_linker&) = delete;
  in_linker& operator=(const in_linker&) = delete;
};

/// Ends the program: what is called as part of the parent's strand or thread cannot be right here.
[[noreturn]] void lost_in_child() noexcept;
/// The same for an object that another thread was changing when fork() was called.
[[noreturn]] void changing_in_parent() noexcept;
/// The same for an object that a strand or thread of the parent waits for, or is part of.
[[noreturn]] void awaited_in_parent() noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
