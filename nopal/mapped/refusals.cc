// SPDX-License-Identifier: MIT
// The table of docs/limits.md.
#include "nopal/mapped/calls.h"

#include "nopal/base/atomic.h"
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/sharing.h"

#include <cerrno>
#include <iterator>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

constexpr const char kIdentity[] = "change it before the program's first fork of a strand";
constexpr const char kBegin[] = "call it in a program that begins this one";

constexpr refusal table[] = {
    {SYS_tgkill, "setgid (setuid, initgroups, or another call that changes the program's identity)",
     kIdentity, true, false},
    {SYS_setuid, "setuid", kIdentity, true},
    {SYS_setgid, "setgid", kIdentity, true},
    {SYS_setreuid, "setreuid", kIdentity, true},
    {SYS_setregid, "setregid", kIdentity, true},
    {SYS_setresuid, "setresuid (seteuid)", kIdentity, true},
    {SYS_setresgid, "setresgid (setegid)", kIdentity, true},
    {SYS_setgroups, "setgroups", kIdentity, true},
    {SYS_setfsuid, "setfsuid", kIdentity, true},
    {SYS_setfsgid, "setfsgid", kIdentity, true},
    {SYS_capset, "capset", kIdentity, true},
    {SYS_unshare, "unshare", kBegin, false},
    {SYS_setns, "setns", kBegin, false},
    {SYS_personality, "personality", kBegin, false},
    {SYS_mlockall, "mlockall", "lock what must stay in memory by mlock", false},
    {SYS_io_setup, "io_setup (libaio)", "use nopal::io, aio_read of POSIX, or pread", false},
    {SYS_shmat, "shmat", "use shm_open and mmap", false},
    {SYS_remap_file_pages, "remap_file_pages", "use mmap", false},
    {SYS_userfaultfd, "userfaultfd", "use mprotect and a handler of SIGSEGV", false},
    {SYS_execve, "execve in a worker", "use posix_spawn, or let main call it", false, false},
    {SYS_execveat, "execveat in a worker", "use posix_spawn, or let main call it", false, false},
    {SYS_timer_create, "timer_create with SIGEV_THREAD in a worker",
     "let main create one such timer before, or use SIGEV_SIGNAL", false, false},
    {SYS_rt_sigaction, "sigaction of SIGSYS", "let another signal do its work", false, false},
};
constinit base::atomic<bool> said[std::size(table)]{};

} // namespace

std::span<const refusal> refusals() noexcept { return table; }

std::optional<long> refuse(long number) noexcept {
  for (const refusal& each : table) {
    if (each.number != number)
      continue;
    if (each.instead == kIdentity && (is_only_process() || raw(SYS_getpid) != own().pid))
      return {}; // in the latter case by a child that shares the memory until it executes a program
    if (each.ends)
      base::die("%s would change one process of nopal::mapped and not the others; %s, or link "
                "nopal::nopal",
                each.name, each.instead);
    if (!said[&each - table].exchange(true, base::relaxed))
      base::say("%s is refused (EPERM), since nopal::mapped has several processes; %s, or link "
                "nopal::nopal",
                each.name, each.instead);
  }
  return -EPERM;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
