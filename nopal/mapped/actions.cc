// SPDX-License-Identifier: MIT
// In the place of each handler of the program the kernel calls `deliver`, which looks it up.
#include "nopal/mapped/actions.h"

#include "nopal/arch/mapped.h"
#include "nopal/mapped/own.h"

#include <sys/syscall.h>

namespace nopal::mapped {
namespace {

using arch::raw;

constinit action found_of_ours[3]{}; // of SIGSYS, SIGSEGV and SIGBUS, before the program began
constexpr int kOurs[] = {SIGSYS, SIGSEGV, SIGBUS};

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

void deliver(int signal, siginfo_t* info, void* context) {
  if (is_for_the_first(signal, *info))
    return;
  if (actions[signal].calls())
    return call_action(signal, info, context);
  install_action(signal); // the table has changed meanwhile
  if (actions[signal].handler == 0)
    raw(SYS_tkill, raw(SYS_gettid), signal);
}

} // namespace

void call_action(int signal, siginfo_t* info, void* context) noexcept {
  const action told = actions[signal];
  if ((told.flags & static_cast<unsigned>(SA_RESETHAND)) != 0) {
    actions[signal].handler = 0;
    install_action(signal);
  }
  if (told.calls())
    reinterpret_cast<handler>(told.handler)(signal, info, context);
}

void open_actions(handler trap, handler fault) noexcept {
  for (int signal = 1; signal <= most_signals; ++signal)
    raw(SYS_rt_sigaction, signal, nullptr, &actions[signal], sizeof action::mask);
  struct sigaction ours{};
  sigfillset(&ours.sa_mask);
  for (int i = 0; i < 3; ++i) {
    found_of_ours[i] = actions[kOurs[i]];
    sigdelset(&ours.sa_mask, kOurs[i]);
  }
  actions[SIGSYS] = {};
  ours.sa_sigaction = trap;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigaction(SIGSYS, &ours, nullptr);
  sigemptyset(&ours.sa_mask);
  ours.sa_sigaction = fault;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
  sigaction(SIGSEGV, &ours, nullptr);
  sigaction(SIGBUS, &ours, nullptr);
}

void close_actions() noexcept {
  for (int i = 0; i < 3; ++i)
    raw(SYS_rt_sigaction, kOurs[i], &found_of_ours[i], nullptr, sizeof action::mask);
}

void install_action(int signal) noexcept {
  if ((bit_of(signal) & never_blocked) != 0)
    return;
  action told = actions[signal];
  if (told.calls()) {
    told.handler = reinterpret_cast<std::uintptr_t>(deliver);
    told.flags |= SA_SIGINFO;
    told.flags &= ~static_cast<std::uint64_t>(static_cast<unsigned>(SA_RESETHAND));
    told.mask &= ~never_blocked;
  }
  raw(SYS_rt_sigaction, signal, &told, nullptr, sizeof told.mask);
}

} // namespace nopal::mapped
