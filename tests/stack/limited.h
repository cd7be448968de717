// SPDX-License-Identifier: MIT
// Limits under which a test begins a process: less memory, and a kernel without some advice of
// madvise(2).
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace nopal_test {

// As if madvise(2) did not know this advice.
inline bool forbid_advice(unsigned advice) {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, advice, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(steps), steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
// As on a kernel before 6.13.
inline bool forbid_guard_regions() { return forbid_advice(102); }
// As on a kernel before 5.18.
inline bool forbid_discarding_what_is_locked() { return forbid_advice(24); }

inline bool limit(__rlimit_resource what, std::size_t bytes) {
  const rlimit to{bytes, bytes};
  return setrlimit(what, &to) == 0;
}

// Whether the program can read the word there. The kernel reads the word before it refuses the
// unknown request.
inline bool is_readable(std::uintptr_t at) {
  constexpr long no_such_change = ~0L;
  constexpr std::size_t word = 8;
  at &= ~(word - 1);
  return syscall(SYS_rt_sigprocmask, no_such_change, at, nullptr, word) != 0 && errno != EFAULT;
}

} // namespace nopal_test
