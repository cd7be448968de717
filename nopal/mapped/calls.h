// SPDX-License-Identifier: MIT
// System calls with the meaning that they have for threads. Each takes what the kernel takes, and
// returns what the kernel would.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <signal.h>
#include <span>
#include <ucontext.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

// mappings.cc, rights.cc, remap.cc: those that change the address space. The break lies behind the
// memory that the program has begun with.
void open_break() noexcept;
long change_break(std::uintptr_t to) noexcept;
long map(std::uintptr_t at, std::size_t bytes, int access, int flags, int file,
         long offset) noexcept;
long unmap(std::uintptr_t at, std::size_t bytes) noexcept;
long protect(std::uintptr_t at, std::size_t bytes, int access) noexcept;
long remap(std::uintptr_t at, std::size_t before, std::size_t bytes, int flags,
           std::uintptr_t to) noexcept;
inline constexpr int dont_need_locked = 24, install_guard_advice = 102; // older headers lack them
long advise(std::uintptr_t at, std::size_t bytes, int advice) noexcept;
// What these do while `changing` (places.h) lives.
long map_memory(std::uintptr_t at, std::size_t bytes, int access) noexcept;
long unmap_all(std::uintptr_t at, std::size_t bytes) noexcept;
long change_rights(std::uintptr_t at, std::size_t bytes, int access) noexcept;
// What a private mapping of a file shows becomes an image at `at`.
long map_copy(std::uintptr_t source, std::uintptr_t at, std::size_t bytes, int access) noexcept;
// For a fork: no other process changes anything meanwhile.
void hold_mappings() noexcept;
void release_mappings() noexcept;

// clones.cc: how processes begin and threads end, clone(2) in all its uses. The first process has
// its entry in the table, and its private page.
void open_processes() noexcept;
// fork(), and vfork() as fork: the process that it makes has copies. `stack`: of the new process;
// 0: the caller's.
long fork_process(long flags, long stack, int* child_tid, ucontext_t& context) noexcept;
// The exit of a thread, and of the program.
[[noreturn]] void end_thread(long code) noexcept;
[[noreturn]] void end_program(long code) noexcept;

// snapshot.cc: the copy of what was shared that a process made by fork() takes. Before the fork,
// and in the process that called it until the copy is made:
void begin_snapshot() noexcept;
void wait_for_snapshot() noexcept;
// In the new process, on a private stack: nothing that was shared is shared when this returns, and
// the process is the first and only one of its program.
void take_snapshot() noexcept;

// waiting.cc: children, all of which are the first process's, whichever process made them; and how
// the end of a process of the program is noticed.
long wait4(int which, int* status, long options, void* usage, ucontext_t& context) noexcept;
long waitid(long kind, long which, void* info, long options, void* usage,
            ucontext_t& context) noexcept;
// A process other than the first has forked a child.
void note_child(long pid) noexcept;
void forget_children() noexcept;
// A process of the program has begun, and may have been killed before it was in the table.
void see_whether_ended(long pid) noexcept;
// The handler of notices.
void on_notice(int signal, siginfo_t* info, void* context);

// refusals.cc: calls that would concern one process where the program means all of it.
struct refusal {
  int number;          // of the system call
  const char* name;    // as programs know it
  const char* instead; // what to do
  bool ends;           // the program: to go on without it would be dangerous
  bool always = true;  // else some uses of it work
};
std::span<const refusal> refusals() noexcept;
// Says so, once for each call, and returns the error that the program gets; or ends the program.
// Nothing: what would concern one process concerns all, as there is but one yet.
std::optional<long> refuse(long number) noexcept;

// By this signal the first process learns of ends of others, and that it must catch up. By default
// it is ignored, so it does no harm to a program that is executed meanwhile. A thread that does not
// block it is always there: a twin.
inline constexpr int notice_signal = SIGURG;
// signals.cc: tells the kernel, for this process, what the table says of a signal.
void install_action(int signal) noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
