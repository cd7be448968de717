// SPDX-License-Identifier: MIT
// In the place of each handler of the program the kernel calls `deliver`, which looks it up.
#include "nopal/mapped/signals.h"

#include "nopal/arch/mapped.h"
#include "nopal/mapped/calls.h"
#include "nopal/mapped/log.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/sharing.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

constexpr int kOurs[] = {SIGSYS, notice_signal, SIGSEGV, SIGBUS};
constexpr std::uint64_t kFaults = bit_of(SIGSEGV) | bit_of(SIGBUS);
constinit action found_of_ours[std::size(kOurs)]{}; // before the program began
constinit action at_fault{};                        // ours

// Of faults: what the thread blocks, and what was sent to it meanwhile.
thread_local constinit struct {
  std::uint64_t blocked = 0;
  std::uint64_t waiting = 0;
} held;

// What waits no more comes when the handler returns that calls this.
void hold_faults(std::uint64_t mask) noexcept {
  held.blocked = mask & kFaults;
  if ((held.waiting & ~held.blocked) == 0)
    return;
  raw(SYS_rt_sigprocmask, SIG_BLOCK, &kFaults, nullptr, sizeof kFaults);
  for (const int signal : {SIGSEGV, SIGBUS})
    if ((held.waiting & ~held.blocked & bit_of(signal)) != 0)
      raw(SYS_tkill, raw(SYS_gettid), signal);
  held.waiting &= held.blocked;
}

bool is_of_thread(int signal) noexcept {
  return signal == SIGFPE || signal == SIGILL || signal == SIGTRAP || signal == SIGPIPE ||
         signal == SIGXFSZ;
}

// A signal for a group of processes, as from a terminal, reaches each process of the program. The
// first one's handler is called for all. Signals that a thread causes are for it alone.
bool is_for_the_first(int signal, const siginfo_t& info) noexcept {
  return !own().is_first && !is_of_thread(signal) &&
         (info.si_code == SI_USER || info.si_code == SI_KERNEL);
}

// What one process of the program sends another comes from the program. The C library compares the
// number with its own, where it cancels threads.
void name_sender(siginfo_t& info) noexcept {
  if ((info.si_code == SI_TKILL || info.si_code == SI_QUEUE) && is_member(info.si_pid))
    info.si_pid = first_pid();
}

void deliver(int signal, siginfo_t* info, void* context) {
  if (is_for_the_first(signal, *info))
    return;
  if (signal == SIGCHLD && info->si_code <= CLD_CONTINUED - told_by_us)
    info->si_code += told_by_us;
  if (signal == SIGCHLD && info->si_code > 0 && is_member(info->si_pid))
    return; // it was stopped, or goes on
  name_sender(*info);
  if (actions[signal].calls())
    return call_action(signal, info, context);
  install_action(signal); // the table has changed meanwhile
  if (actions[signal].handler == 0)
    raw(SYS_tkill, raw(SYS_gettid), signal);
}

// A thread of this process may have mapped the page just now. So a fault is one if the thread comes
// back with the same fault, and nothing was applied in between.
bool may_be_late(std::uintptr_t at) noexcept {
  constexpr std::uintptr_t kSpread = 0x9e37'79b9'7f4a'7c15;
  const auto thread = static_cast<std::uintptr_t>(raw(SYS_gettid));
  const std::uintptr_t which =
      (at * kSpread + thread) * kSpread + own().self->applied.load(base::acquire);
  return own().last_fault.exchange(which, base::relaxed) != which;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const bool was_sent = info->si_code <= 0;
  const bool is_blocked = (held.blocked & bit_of(signal)) != 0;
  if (was_sent && is_blocked)
    return static_cast<void>(held.waiting |= bit_of(signal));
  if (!was_sent && (catch_up() || may_be_late(reinterpret_cast<std::uintptr_t>(info->si_addr))))
    return;
  const action wanted = actions[signal];
  if (is_blocked || !wanted.calls()) {
    if (!was_sent || wanted.handler == 0)
      happen_by_default(signal, was_sent);
    return;
  }
  const std::uint64_t mask = wanted.mask & ~never_blocked;
  raw(SYS_rt_sigprocmask, SIG_BLOCK, &mask, nullptr, sizeof mask);
  call_action(signal, info, context);
}

} // namespace

void call_action(int signal, siginfo_t* info, void* context) {
  const action wanted = actions[signal];
  if (wanted.has(static_cast<int>(SA_RESETHAND))) {
    actions[signal].handler = 0;
    install_action(signal);
  }
  if (!wanted.calls())
    return;
  const std::uint64_t before = held.blocked;
  hold_faults(before | wanted.mask | (wanted.has(SA_NODEFER) ? 0 : bit_of(signal)));
  // Blocked while `held` does not say so: one that is sent again and again would nest without end.
  const std::uint64_t own_signal = bit_of(signal) & kFaults;
  raw(SYS_rt_sigprocmask, SIG_UNBLOCK, &own_signal, nullptr, sizeof own_signal);
  reinterpret_cast<handler>(wanted.handler)(signal, info, context);
  raw(SYS_rt_sigprocmask, SIG_BLOCK, &own_signal, nullptr, sizeof own_signal);
  hold_faults(before);
}

void happen_by_default(int signal, bool was_sent) noexcept {
  const action by_default{};
  raw(SYS_rt_sigaction, signal, &by_default, nullptr, sizeof by_default.mask);
  if (was_sent)
    raw(SYS_tkill, raw(SYS_gettid), signal);
}

void open_actions(handler trap, handler notice) noexcept {
  for (int signal = 1; signal <= most_signals; ++signal)
    raw(SYS_rt_sigaction, signal, nullptr, &actions[signal], sizeof action::mask);
  for (std::size_t i = 0; i < std::size(kOurs); ++i)
    found_of_ours[i] = actions[kOurs[i]];
  actions[SIGSYS] = {};
  struct sigaction ours{};
  const auto install = [&](int signal, handler call, int flags) {
    ours.sa_sigaction = call;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | flags;
    sigaction(signal, &ours, nullptr);
  };
  install(SIGSEGV, on_fault, SA_ONSTACK);
  install(SIGBUS, on_fault, SA_ONSTACK);
  raw(SYS_rt_sigaction, SIGBUS, nullptr, &at_fault, sizeof action::mask);
  sigfillset(&ours.sa_mask);
  for (const int never : {SIGSYS, SIGSEGV, SIGBUS})
    sigdelset(&ours.sa_mask, never);
  install(SIGSYS, trap, SA_NODEFER);
  install(notice_signal, notice, 0);
}

void close_actions() noexcept {
  for (std::size_t i = 0; i < std::size(kOurs); ++i)
    raw(SYS_rt_sigaction, kOurs[i], &found_of_ours[i], nullptr, sizeof action::mask);
}

void install_action(int signal) noexcept {
  action wanted = actions[signal];
  if ((bit_of(signal) & kFaults) != 0) {
    const bool interrupts = wanted.calls() && !wanted.has(SA_RESTART);
    wanted = at_fault;
    if (interrupts) // a call of the program, where the signal is sent
      wanted.flags &= ~static_cast<std::uint64_t>(SA_RESTART);
  } else if (std::ranges::find(kOurs, signal) != std::end(kOurs)) {
    return;
  } else if (wanted.calls()) {
    wanted.handler = reinterpret_cast<std::uintptr_t>(deliver);
    wanted.flags |= SA_SIGINFO;
    wanted.flags &= ~static_cast<std::uint64_t>(static_cast<unsigned>(SA_RESETHAND));
    wanted.mask &= ~never_blocked;
  }
  raw(SYS_rt_sigaction, signal, &wanted, nullptr, sizeof wanted.mask);
}

long change_mask(long how, const std::uint64_t* set, std::uint64_t* before,
                 ucontext_t& context) noexcept {
  const std::uint64_t was = mask_of(context) | held.blocked;
  if (set != nullptr) {
    if (how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
      return -EINVAL;
    const std::uint64_t mask = how == SIG_BLOCK     ? was | *set
                               : how == SIG_UNBLOCK ? was & ~*set
                                                    : *set;
    mask_of(context) = mask & ~never_blocked;
    hold_faults(mask);
  }
  if (before != nullptr)
    *before = was;
  return 0;
}

long change_action(long signal, const action* wanted, action* before, long mask_bytes) noexcept {
  if (signal < 1 || signal > most_signals || signal == SIGKILL || signal == SIGSTOP ||
      mask_bytes != sizeof action::mask)
    return raw(SYS_rt_sigaction, signal, wanted, before, mask_bytes);
  if (raw(SYS_getpid) != own().pid) // a child that shares this process's memory until its exec
    return (bit_of(static_cast<int>(signal)) & never_blocked) != 0
               ? 0
               : raw(SYS_rt_sigaction, signal, wanted, before, mask_bytes);
  if (signal == SIGSYS && wanted != nullptr && wanted->handler > 1)
    return *refuse(SYS_rt_sigaction);
  {
    const base::locked guard{actions_lock};
    const action was = actions[signal];
    if (wanted != nullptr)
      actions[signal] = *wanted;
    if (before != nullptr)
      *before = was;
  }
  if (wanted != nullptr) {
    log_change({.what = change::kind::act, .access = static_cast<int>(signal)});
    make_all_catch_up();
  }
  return 0;
}

masked::masked(std::uint64_t mask) noexcept {
  raw(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before_, sizeof before_);
}

masked::~masked() { raw(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
