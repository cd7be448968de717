// SPDX-License-Identifier: MIT
// What a child that fork(2) makes amid a run gets of its parent's memory: frames of its own.
//
// The region is shared memory, so parent and child would both run on the same frames from the
// moment at which the system call returns. Therefore a task that calls fork() runs on another stack
// meanwhile. The parent copies the frames before the system call, and the child puts the copies in
// the place of the region before fork() returns there. The same serves callers on other stacks, as
// a child of a nopal::scope, which may use the frames of its task.
//
// Where the C library forks by itself (forkpty, daemon), its own frames lie on the region already.
// So the parent's region is private memory during the system call:
//
//      before the system call         behind it, in the parent        in the child
//      alias  <- the shared pages     the running task's frames are   keeps the copies
//      region <- private copies       copied to the alias, which
//                                     becomes the region again
//
// Thieves read the shared pages all the while: open segments stay as they are while a child runs.
// What another thread writes to the frames of the task in these moments may be lost.
//
// The system gives the child nothing else of the blocks (MADV_DONTFORK, shared_memory.cc). In the
// place of its parent's queue it has an empty one. So a child can go on in its task, but it damages
// nothing when it comes to a spawn, a join or the end of the task, where it ends with a sentence.
//
// A child that is made without these steps (_Fork, clone) has no region: it ends at its first step
// on it, by SIGSEGV, and its parent is unharmed.
//
// Ownership: all is written under a mutex, which is held while the process forks.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"

#include <sys/types.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// From now on, until `leave_forks_alone`, forks of this process are as above. `in_child` is called
// in a child before fork() returns there, if the parent forks between the beginning and the end of
// a session.
void prepare_forks(const layout& memory, void (*in_child)());
void leave_forks_alone() noexcept;
// A run begins, or has ended: whether frames lie on the region.
void note_run(bool under_way) noexcept;

inline constexpr char came_to_a_spawn[] =
    "a process that the program has forked from one of the session's came to a spawn, a join or "
    "the end of a task, which belong to the process that forked it: such a child may call anything "
    "else, and ends by exec, exit or _exit";
// Ends a process that the program has forked from one of a session's, with a sentence; returns in
// others. Called where a process needs what others reach.
void refuse_in_child() noexcept;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END

// In the place of the C library's, in a program that is linked with this library.
extern "C" pid_t fork() noexcept;
