// SPDX-License-Identifier: MIT
// The kernel sends the first process a notice when one of the others ends, and also when a child
// ends that one of the others has forked. Both are children that only __WALL finds.
#include "nopal/mapped/calls.h"

#include "nopal/base/die.h"
#include "nopal/mapped/log.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/ranges.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/signals.h"
#include "nopal/mapped/twin.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace nopal::mapped {
namespace {

// Children that processes other than the first have forked: [pid, pid + 1). Those that execute a
// program become children like others, and all are forgotten when they were waited for.
// Notices, whose handler asks for them too, are blocked while a thread holds their lock.
constinit piece_map forked;

void forget_child(int pid) noexcept {
  const masked undisturbed{all_signals};
  forked.cut(static_cast<std::uintptr_t>(pid), 1, [](piece&) {});
}

struct request {
  long kind, which, options;
  siginfo_t info;
  rusage usage;
};

bool is_an_end(const siginfo_t& info) noexcept {
  return info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
}

bool is_ours(int pid) noexcept {
  bool found = false;
  for_each_member([&](member& each) { found |= each.pid.load(base::relaxed) == pid; });
  return found;
}

// Of the children that `kind` selects: whether there is one, or one that has ended.
enum class child_state { exists, has_ended };
bool some_child(child_state wanted, long kind, long pid) noexcept {
  siginfo_t found{};
  const long result = raw(SYS_waitid, kind, pid, &found,
                          WEXITED | WNOHANG | WNOWAIT | (pid != 0 ? __WALL : 0), nullptr);
  return result == 0 && (wanted == child_state::exists || found.si_pid != 0);
}
bool some_forked(child_state wanted) noexcept {
  const masked undisturbed{all_signals};
  return forked.any(
      [&](const piece& each) { return some_child(wanted, P_PID, static_cast<long>(each.at)); });
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
  const bool is_childs = is_an_end(notice) && !is_ours(notice.si_pid);
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
  if (!actions[SIGCHLD].calls() || !(is_childs || some_forked(child_state::has_ended)))
    return;
  siginfo_t child = notice;
  child.si_signo = SIGCHLD;
  child.si_code = is_childs ? notice.si_code : CLD_EXITED;
  raw(SYS_rt_sigqueueinfo, own().pid, SIGCHLD, &child);
}

// waitid(2), without the processes of the program. Where there is nothing else, ECHILD.
long wait_for_other(request& wanted) noexcept {
  for (;;) {
    if (wanted.kind == P_ALL && !some_child(child_state::exists, P_ALL, 0) &&
        !some_forked(child_state::exists))
      return -ECHILD;
    wanted.info.si_pid = 0;
    const long result = raw(SYS_waitid, wanted.kind, wanted.which, &wanted.info,
                            wanted.options | __WALL | WNOWAIT, &wanted.usage);
    const int pid = wanted.info.si_pid;
    if (result != 0 || pid == 0)
      return result;
    if (!is_ours(pid)) {
      if ((wanted.options & WNOWAIT) != 0 || take_notice(wanted, pid))
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

void note_child(long pid) noexcept {
  const masked undisturbed{all_signals};
  forked.add(static_cast<std::uintptr_t>(pid), 1, 0);
}
// The list may be what another process was changing as this one was forked.
void forget_children() noexcept { new (&forked) piece_map; }

// While one notice waits to be delivered a second is lost, so each is taken for all.
void on_notice(int signal, siginfo_t* info, void* context) {
  catch_up();
  if (own().is_first)
    attend_to_ends(*info);
  const bool sent = info->si_code <= 0 || info->si_code == SI_KERNEL;
  if (sent && !is_ours(info->si_pid))
    call_action(signal, info, context);
}

} // namespace nopal::mapped
