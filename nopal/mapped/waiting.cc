// SPDX-License-Identifier: MIT
// The kernel sends the first process a notice when one of the others ends, and also when a child
// ends that one of the others has forked. Both are children that only __WALL finds.
#include "nopal/mapped/calls.h"

#include "nopal/base/die.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/mapped/log.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/ranges.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/signals.h"
#include "nopal/mapped/twin.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

// Children that processes other than the first have forked: [pid, pid + 1). Those that execute a
// program become children like others, and all are forgotten when they were waited for. `told`: of
// whose end the program has heard.
// Notices, whose handler asks for them too, are blocked while a thread holds their lock.
constinit piece_map forked, told;
constinit base::spin_lock telling; // for tests of `told` and additions to it

void add_child(piece_map& to, int pid) noexcept { to.add(static_cast<std::uintptr_t>(pid), 1, 0); }
void take_out(piece_map& from, int pid) noexcept {
  from.cut(static_cast<std::uintptr_t>(pid), 1, [](piece&) {});
}
bool holds(piece_map& in, int pid) noexcept {
  return in.touch(static_cast<std::uintptr_t>(pid), 1);
}
void forget_child(int pid) noexcept {
  const masked undisturbed{all_signals};
  take_out(forked, pid);
  take_out(told, pid);
}

struct request {
  long kind, which, options;
  siginfo_t info;
  rusage usage;
};

bool is_an_end(const siginfo_t& info) noexcept {
  return info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
}

// Whether there is such a child; `found` is one of them that has ended, if there is one.
bool some_child(long kind, long pid, siginfo_t& found) noexcept {
  found = {};
  return raw(SYS_waitid, kind, pid, &found, WEXITED | WNOHANG | WNOWAIT | (pid != 0 ? __WALL : 0),
             nullptr) == 0;
}
bool some_forked() noexcept {
  siginfo_t any{};
  const masked undisturbed{all_signals};
  return forked.any(
      [&](const piece& each) { return some_child(P_PID, static_cast<long>(each.at), any); });
}
// One that has ended, and the program has not heard of it.
bool find_ended(siginfo_t& found) noexcept {
  const masked undisturbed{all_signals};
  return forked.any([&](const piece& each) {
    return !holds(told, static_cast<int>(each.at)) &&
           some_child(P_PID, static_cast<long>(each.at), found) && found.si_pid != 0;
  });
}

// Where the program ignores SIGCHLD, the kernel keeps no child that has ended; but it does not know
// a child of another process as one.
bool keeps_no_child(int pid) noexcept {
  const action& wanted = actions[SIGCHLD];
  return (wanted.handler == 1 || wanted.has(SA_NOCLDWAIT)) && holds(forked, pid);
}
void drop_child(int pid) noexcept {
  raw(SYS_waitid, P_PID, pid, nullptr, WEXITED | WNOHANG | __WALL, nullptr);
  forget_child(pid);
}

// Its notice may come before the child is known as forked, and be taken by several threads. One
// that was waited for meanwhile leaves no trace.
bool is_first_to_tell(int pid) noexcept {
  siginfo_t end{};
  const masked undisturbed{all_signals};
  const base::locked guard{telling};
  if (holds(told, pid))
    return false;
  if (some_child(P_PID, pid, end))
    add_child(told, pid);
  return true;
}

// SIGCHLD, instead of which a notice has come.
void tell_program(siginfo_t end) noexcept {
  if (keeps_no_child(end.si_pid))
    return drop_child(end.si_pid);
  if (!is_first_to_tell(end.si_pid))
    return;
  end.si_signo = SIGCHLD;
  if (raw(SYS_rt_sigqueueinfo, own().pid, SIGCHLD, &end) != -EPERM)
    return;
  end.si_code -= told_by_us; // another thread than the first may not send it as the kernel would
  raw(SYS_rt_sigqueueinfo, own().pid, SIGCHLD, &end);
}

// Takes the notice of a child that was seen. False: another thread has taken it.
bool take_notice(request& wanted, int pid) noexcept {
  const long result =
      raw(SYS_waitid, P_PID, pid, &wanted.info, wanted.options | WNOHANG | __WALL, &wanted.usage);
  if (result != 0 || wanted.info.si_pid != pid)
    return false;
  if (is_an_end(wanted.info))
    forget_child(pid);
  return true;
}

long tell_of_ends() noexcept {
  for (siginfo_t end{}; find_ended(end);)
    tell_program(end);
  return 0;
}

[[noreturn]] void end_as(int pid, int signal) noexcept {
  base::say("process %d of the program was killed by signal %d (%s), and the others end with it",
            pid, signal, sigabbrev_np(signal) != nullptr ? sigabbrev_np(signal) : "?");
  raw(SYS_prctl, PR_SET_DUMPABLE, 0); // the core file of the process that was killed stays
  const masked by_nothing{0};
  happen_by_default(signal, true);
  raw(SYS_exit_group, 128 + signal);
  __builtin_unreachable();
}

void attend_to_ends(const siginfo_t& notice) noexcept {
  const bool is_childs = is_an_end(notice) && !is_member(notice.si_pid);
  for_each_member([&](member& each) {
    const int pid = each.pid.load(base::relaxed);
    if (&each == own().self || pid <= 0) // another thread has seen its end
      return;
    siginfo_t end{};
    const long waited = raw(SYS_waitid, P_PID, pid, &end, WEXITED | WNOHANG | __WALL, nullptr);
    // Another thread may have waited for it, and have the notice in hand.
    if (waited == -ECHILD && pid == notice.si_pid && is_an_end(notice))
      end = notice;
    if (end.si_pid != pid)
      return;
    if (end.si_code != CLD_EXITED)
      end_as(pid, end.si_status);
    leave_seat(each, pid);
  });
  if (is_childs)
    tell_program(notice);
  tell_of_ends();
}

// waitid(2), without the processes of the program. Where there is nothing else, ECHILD.
long wait_for_other(request& wanted) noexcept {
  for (;;) {
    siginfo_t any{};
    if (wanted.kind == P_ALL && !some_child(P_ALL, 0, any) && !some_forked())
      return -ECHILD;
    wanted.info.si_pid = 0;
    const long result = raw(SYS_waitid, wanted.kind, wanted.which, &wanted.info,
                            wanted.options | __WALL | WNOWAIT, &wanted.usage);
    const int pid = wanted.info.si_pid;
    if (result != 0 || pid == 0)
      return result;
    if (!is_member(pid)) {
      if (some_begin())
        continue; // it may be one of these, which was killed
      if (is_an_end(wanted.info) && keeps_no_child(pid))
        drop_child(pid);
      else if ((wanted.options & WNOWAIT) != 0 || take_notice(wanted, pid))
        return 0;
    } else if (is_an_end(wanted.info)) {
      attend_to_ends(wanted.info);
    } else {
      raw(SYS_waitid, P_PID, pid, nullptr, WSTOPPED | WCONTINUED | WNOHANG | __WALL, nullptr);
    }
  }
}

int status_of(const siginfo_t& info) noexcept {
  switch (info.si_code) {
  case CLD_EXITED:
    return info.si_status << 8;
  case CLD_STOPPED:
  case CLD_TRAPPED:
    return (info.si_status << 8) | 0x7f;
  case CLD_CONTINUED:
    return 0xffff;
  default:
    return info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0);
  }
}

} // namespace

long waitid(long kind, long which, void* info, long options, void* usage,
            ucontext_t& context) noexcept {
  request wanted{kind, which, options, {}, {}};
  long result = 0;
  {
    const masked as_the_program{mask_of(context)};
    result = in_first_process(wait_for_other, wanted);
  }
  if (result == 0 && info != nullptr)
    std::memcpy(info, &wanted.info, sizeof wanted.info);
  if (result == 0 && usage != nullptr)
    std::memcpy(usage, &wanted.usage, sizeof wanted.usage);
  return result;
}

long wait4(int which, int* status, long options, void* usage, ucontext_t& context) noexcept {
  const long group = which == 0 ? 0 : -which;
  const long kind = which == -1 ? P_ALL : which > 0 ? P_PID : P_PGID;
  siginfo_t info{};
  const long how = WEXITED | (options & (WNOHANG | WCONTINUED | __WNOTHREAD)) |
                   ((options & WUNTRACED) != 0 ? WSTOPPED : 0);
  const long result = waitid(kind, which > 0 ? which : group, &info, how, usage, context);
  if (result < 0)
    return result;
  if (status != nullptr && info.si_pid != 0)
    *status = status_of(info);
  return info.si_pid;
}

// It may have ended before, and its notice with that of another one.
void note_child(long pid) noexcept {
  {
    const masked undisturbed{all_signals};
    add_child(forked, static_cast<int>(pid));
  }
  in_first_process(+[](long&) { return tell_of_ends(); }, pid);
}
void see_whether_ended(long pid) noexcept {
  pollfd end{static_cast<int>(raw(SYS_pidfd_open, pid, 0)), POLLIN, 0};
  if (end.fd < 0)
    return;
  if (raw(SYS_poll, &end, 1, 0) == 1)
    raw(SYS_kill, first_pid(), notice_signal);
  raw(SYS_close, end.fd);
}
// The lists may be what another process was changing as this one was forked.
void forget_children() noexcept {
  new (&forked) piece_map;
  new (&told) piece_map;
  new (&telling) base::spin_lock;
}

// While one notice waits to be delivered a second is lost, so each is taken for all.
void on_notice(int signal, siginfo_t* info, void* context) {
  catch_up();
  if (own().is_first)
    attend_to_ends(*info);
  const bool sent = info->si_code <= 0 || info->si_code == SI_KERNEL;
  if (sent && !is_member(info->si_pid))
    call_action(signal, info, context);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
