// SPDX-License-Identifier: MIT
// In the place of each handler of the program the kernel calls `deliver`, which looks it up.
#include "nopal/mapped/actions.h"

#include "nopal/arch/mapped.h"
#include "nopal/mapped/members.h"

#include <algorithm>
#include <iterator>
#include <sys/syscall.h>

namespace nopal::mapped {
namespace {

using arch::raw;

constexpr int kOurs[] = {SIGSYS, notice_signal, SIGSEGV, SIGBUS};
constinit action found_of_ours[std::size(kOurs)]{}; // before the program began

bool is_ours(int signal) noexcept {
  return std::find(std::begin(kOurs), std::end(kOurs), signal) != std::end(kOurs);
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
  if (info.si_code == SI_TKILL || info.si_code == SI_QUEUE)
    for_each_member([&](member& each) {
      if (each.pid.load(base::relaxed) == info.si_pid)
        info.si_pid = first_pid();
    });
}

void deliver(int signal, siginfo_t* info, void* context) {
  if (is_for_the_first(signal, *info))
    return;
  name_sender(*info);
  if (actions[signal].calls())
    return call_action(signal, info, context);
  install_action(signal); // the table has changed meanwhile
  if (actions[signal].handler == 0)
    raw(SYS_tkill, raw(SYS_gettid), signal);
}

} // namespace

void call_action(int signal, siginfo_t* info, void* context) {
  const action told = actions[signal];
  if ((told.flags & static_cast<unsigned>(SA_RESETHAND)) != 0) {
    actions[signal].handler = 0;
    install_action(signal);
  }
  if (told.calls())
    reinterpret_cast<handler>(told.handler)(signal, info, context);
}

void open_actions(handler trap, handler fault, handler notice) noexcept {
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
  install(SIGSEGV, fault, SA_NODEFER | SA_ONSTACK);
  install(SIGBUS, fault, SA_NODEFER | SA_ONSTACK);
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
  if (is_ours(signal))
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
