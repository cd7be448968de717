// SPDX-License-Identifier: MIT
// The handler blocks all signals but faults, so that none interrupts a thread that holds a lock.
//
// Some calls are made by the first process for all. What they read and write is copied, since it
// may lie on a stack that only the caller sees.
#include "nopal/mapped/traps.h"

#include "nopal/mapped/calls.h"
#include "nopal/mapped/log.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/signals.h"
#include "nopal/mapped/twin.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <type_traits>
#include <ucontext.h>
#include <utility>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

// A trapped call. What it consists of is written back to the registers where it is made again.
struct call {
  static constexpr int kPlaces[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

  explicit call(ucontext_t& trap) noexcept
      : context{trap}, number{trap.uc_mcontext.gregs[REG_RAX]} {
    for (int i = 0; i < 6; ++i)
      arguments[i] = trap.uc_mcontext.gregs[kPlaces[i]];
  }

  // It is made when the handler returns, with the program's signal mask, and then the program goes
  // on. So a signal interrupts it as ever.
  void make_again() noexcept {
    greg_t* const registers = context.uc_mcontext.gregs;
    for (int i = 0; i < 6; ++i)
      registers[kPlaces[i]] = arguments[i];
    registers[REG_RAX] = number;
    registers[REG_RSP] = leave_return_address(registers[REG_RSP]);
    registers[REG_RIP] = reinterpret_cast<long>(nopal_arch_again);
  }
  // For the side of a clone that has this stack pointer. Returns what it is to be at the call.
  long leave_return_address(long stack) const noexcept {
    *reinterpret_cast<long*>(stack - NOPAL_ARCH_AGAIN) = context.uc_mcontext.gregs[REG_RIP];
    return stack - NOPAL_ARCH_AGAIN;
  }

  ucontext_t& context;
  long number;
  long arguments[6];
};

namespace {

using answer = std::optional<long>;

template <class Parameter> Parameter argument(call& made, std::size_t number) noexcept {
  if constexpr (std::is_same_v<Parameter, ucontext_t&>)
    return made.context;
  else if constexpr (std::is_pointer_v<Parameter>)
    return reinterpret_cast<Parameter>(made.arguments[number]);
  else
    return static_cast<Parameter>(made.arguments[number]);
}
template <class... Parameters>
answer made_by(long (*function)(Parameters...) noexcept, call& made) noexcept {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return function(argument<Parameters>(made, I)...);
  }(std::index_sequence_for<Parameters...>{});
}
// A function that takes what the kernel takes, and perhaps the context.
template <auto Function> answer by(call& made) noexcept { return made_by(Function, made); }

const trapped* entry_of(const call& made) noexcept;

answer by_first(call& made) noexcept {
  struct request {
    const trapped* how; // in shared memory, as all constants are
    long arguments[6];
    char in[64], out[64];
  } sent{entry_of(made), {}, {}, {}};
  std::ranges::copy(made.arguments, sent.arguments);
  const auto there = [&](int which) {
    return which < 0 ? nullptr : argument<void*>(made, static_cast<std::size_t>(which));
  };
  if (const void* const in = there(sent.how->in))
    std::memcpy(sent.in, in, sent.how->in_bytes);
  const long result = in_first_process(
      +[](request& wanted) {
        long(&a)[6] = wanted.arguments;
        const auto point = [&](int which, char* to) {
          if (which >= 0 && a[which] != 0)
            a[which] = reinterpret_cast<long>(to);
        };
        point(wanted.how->in, wanted.in);
        point(wanted.how->out, wanted.out);
        return raw(wanted.how->number, a[0], a[1], a[2], a[3], a[4], a[5]);
      },
      sent);
  if (void* const out = there(sent.how->out); out != nullptr && result >= 0)
    std::memcpy(out, sent.out, sent.how->out_bytes);
  return result;
}

// The first process's kernel knows no threads of the others, as SIGEV_THREAD has one, too.
answer create_timer(call& made) noexcept {
  const auto* const how = argument<const sigevent*>(made, 1);
  const bool is_for_thread = how != nullptr && (how->sigev_notify & SIGEV_THREAD_ID) != 0;
  const answer given = by_first(made);
  return is_for_thread && given == -EINVAL && !own().is_first ? refuse(made.number) : given;
}

// A limit holds for each process.
long change_limit(long pid, long which, const rlimit* wanted, rlimit* before) noexcept {
  pid = pid == 0 ? own().pid : pid;
  if (wanted == nullptr || (pid != own().pid && pid != first_pid()))
    return raw(SYS_prlimit64, pid, which, wanted, before);
  const rlimit copied = *wanted;
  const long result = raw(SYS_prlimit64, pid, which, &copied, before);
  if (result == 0)
    for_each_member([&](member& each) {
      raw(SYS_prlimit64, each.pid.load(base::relaxed), which, &copied, nullptr);
    });
  return result;
}

// posix_spawn and its like have a child that runs on a stack of its own, in the caller's memory.
answer clone(call& made) noexcept {
  long(&a)[6] = made.arguments;
  if ((a[0] & CLONE_VM) == 0 || a[1] == 0)
    return fork_process(a[0], a[1], argument<int*>(made, 3), made.context);
  if (!own().is_first)
    a[0] |= CLONE_PARENT; // a child of the first process, as all are
  a[1] = made.leave_return_address(a[1]);
  return {};
}
// Also vfork, whose child runs on the caller's stack.
answer fork(call& made) noexcept { return fork_process(SIGCHLD, 0, nullptr, made.context); }

answer execute(call& made) noexcept {
  if (own().is_first || raw(SYS_getpid) != own().pid)
    return {}; // or a child that shares the memory until now
  return refuse(made.number);
}

answer share_futex(call& made) noexcept {
  made.arguments[1] &= ~FUTEX_PRIVATE_FLAG;
  return {};
}

answer reach_all_processes(call& made) noexcept {
  made.arguments[0] = made.arguments[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED
                          ? MEMBARRIER_CMD_GLOBAL_EXPEDITED
                          : MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
  return {};
}

// What others have mapped is mapped here, too, when the kernel looks.
answer after_catching_up(call&) noexcept {
  catch_up();
  return {};
}

// There are no keys (filter.cc), but -1 is none.
answer protect_without_key(call& made) noexcept {
  return made.arguments[3] == -1 ? by<protect>(made) : -EINVAL;
}

answer end_this_thread(call& made) noexcept { end_thread(made.arguments[0]); }
answer end_this_program(call& made) noexcept { end_program(made.arguments[0]); }
answer number_of_program(call&) noexcept { return first_pid(); }

// The thread may be one of another process, or the caller, whose signal comes with its own mask.
// With one signal the C library makes all threads change their identity. What they are to do lies
// in the caller's frame, and twins do not get it.
answer kill_thread(call& made) noexcept {
  constexpr long change_identity = __SIGRTMIN + 1;
  if (made.arguments[2] == change_identity)
    refuse(made.number);
  made.number = SYS_tkill;
  std::copy(made.arguments + 1, made.arguments + 3, made.arguments);
  return {};
}
long queue_to_thread(long process, long thread, long signal, const void* info) noexcept {
  const long result = raw(SYS_rt_tgsigqueueinfo, process, thread, signal, info);
  return result != -ESRCH ? result : raw(SYS_rt_tgsigqueueinfo, thread, thread, signal, info);
}

// What lies above is not the program's.
answer close_range(call& made) noexcept {
  long(&a)[6] = made.arguments;
  a[1] = static_cast<long>(std::min<unsigned long>(static_cast<unsigned>(a[1]),
                                                   static_cast<unsigned>(first_descriptor - 1)));
  return static_cast<unsigned long>(a[0]) > static_cast<unsigned long>(a[1]) ? answer{0} : answer{};
}

constexpr trapped table[] = {
    {SYS_mmap, by<map>},
    {SYS_munmap, by<unmap>},
    {SYS_mprotect, by<protect>},
    {SYS_mremap, by<remap>},
    {SYS_madvise, by<advise>},
    {SYS_pkey_mprotect, protect_without_key},
    {SYS_msync, after_catching_up},
    {SYS_mincore, after_catching_up},
    {SYS_mlock, after_catching_up},
    {SYS_mlock2, after_catching_up},
    {SYS_munlock, after_catching_up},
    {SYS_brk, by<change_break>},
    {SYS_rt_sigprocmask, by<change_mask>},
    {SYS_rt_sigaction, by<change_action>},
    {SYS_wait4, by<wait4>},
    {SYS_waitid, by<waitid>},
    {SYS_clone, clone, {0, BPF_JSET, CLONE_THREAD, true}},
    {SYS_fork, fork},
    {SYS_vfork, fork},
    {SYS_execve, execute},
    {SYS_execveat, execute},
    {SYS_exit, end_this_thread},
    {SYS_exit_group, end_this_program},
    {SYS_futex, share_futex, {1, BPF_JSET, FUTEX_PRIVATE_FLAG}},
    {SYS_membarrier, reach_all_processes, {0, BPF_JEQ, MEMBARRIER_CMD_PRIVATE_EXPEDITED}},
    {SYS_membarrier, reach_all_processes, {0, BPF_JEQ, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED}},
    {SYS_getpid, number_of_program},
    {SYS_tgkill, kill_thread},
    {SYS_rt_tgsigqueueinfo, by<queue_to_thread>},
    {SYS_prlimit64, by<change_limit>},
    {SYS_close_range, close_range},
    {SYS_setitimer, by_first, {}, 1, sizeof(itimerval), 2, sizeof(itimerval)},
    {SYS_getitimer, by_first, {}, -1, 0, 1, sizeof(itimerval)},
    {SYS_alarm, by_first},
    {SYS_timer_create, create_timer, {}, 1, sizeof(sigevent), 2, sizeof(int)},
    {SYS_timer_settime, by_first, {}, 2, sizeof(itimerspec), 3, sizeof(itimerspec)},
    {SYS_timer_gettime, by_first, {}, -1, 0, 1, sizeof(itimerspec)},
    {SYS_timer_delete, by_first},
    {SYS_timer_getoverrun, by_first},
    {SYS_prctl, by_first, {0, BPF_JEQ, PR_SET_PDEATHSIG}},
    {SYS_prctl, by_first, {0, BPF_JEQ, PR_GET_PDEATHSIG}, -1, 0, 1, sizeof(int)},
    {SYS_prctl, by_first, {0, BPF_JEQ, PR_SET_CHILD_SUBREAPER}},
    {SYS_prctl, by_first, {0, BPF_JEQ, PR_GET_CHILD_SUBREAPER}, -1, 0, 1, sizeof(int)},
    {SYS_getppid, by_first},
    {SYS_setpgid, by_first},
    {SYS_setsid, by_first},
    {SYS_getpgid, by_first},
    {SYS_getsid, by_first},
    {SYS_getpgrp, by_first},
};

const trapped* entry_of(const call& made) noexcept {
  const auto* const found = std::ranges::find_if(table, [&](const trapped& each) {
    return each.number == made.number &&
           (each.when.test != BPF_JEQ ||
            each.when.value == static_cast<std::uint32_t>(made.arguments[each.when.argument]));
  });
  return found != std::end(table) ? found : nullptr;
}

} // namespace

std::span<const trapped> trapped_calls() noexcept { return table; }

void on_trap(int, siginfo_t* info, void* context) {
  if (info->si_errno != trap_mark)
    return static_cast<void>(catch_up());
  call made{*static_cast<ucontext_t*>(context)};
  const trapped* const entry = entry_of(made);
  if (const answer given = entry != nullptr ? entry->by(made) : refuse(made.number))
    made.context.uc_mcontext.gregs[REG_RAX] = *given;
  else
    made.make_again();
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
