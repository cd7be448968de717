// SPDX-License-Identifier: MIT
// Signals are the program's: their actions hold for all its processes, their masks for a thread.
#include "nopal/mapped/signals.h"

#include "nopal/mapped/log.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/refusals.h"
#include "nopal/mapped/sharing.h"

#include <cerrno>
#include <sys/syscall.h>

namespace nopal::mapped {
namespace {

bool is_a_fault(const siginfo_t& info) noexcept { return info.si_code > 0; }

// The kernel's own action, at the same instruction or as soon as the handler returns.
void happen_by_default(int signal, const siginfo_t& info) noexcept {
  const action by_default{};
  raw(SYS_rt_sigaction, signal, &by_default, nullptr, sizeof by_default.mask);
  if (!is_a_fault(info))
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

} // namespace

long change_mask(long how, const std::uint64_t* set, std::uint64_t* before,
                 ucontext_t& context) noexcept {
  std::uint64_t& mask = mask_of(context);
  const std::uint64_t was = mask;
  if (set != nullptr) {
    if (how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
      return -EINVAL;
    mask = how == SIG_BLOCK ? was | *set : how == SIG_UNBLOCK ? was & ~*set : *set;
    mask &= ~never_blocked;
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
    return refuse(SYS_rt_sigaction);
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

void on_fault(int signal, siginfo_t* info, void* context) {
  counted().faults.fetch_add(1, base::relaxed);
  if (is_a_fault(*info)) {
    if (catch_up()) {
      counted().caught_up.fetch_add(1, base::relaxed);
      return;
    }
    if (may_be_late(reinterpret_cast<std::uintptr_t>(info->si_addr)))
      return;
  }
  const action told = actions[signal];
  if (!told.calls()) {
    if (told.handler == 0 || is_a_fault(*info))
      happen_by_default(signal, *info);
    return;
  }
  const std::uint64_t mask = told.mask & ~never_blocked;
  raw(SYS_rt_sigprocmask, SIG_BLOCK, &mask, nullptr, sizeof mask);
  call_action(signal, info, context);
}

unmasked::unmasked(ucontext_t& context) noexcept {
  raw(SYS_rt_sigprocmask, SIG_SETMASK, &mask_of(context), &before_, sizeof before_);
}

unmasked::~unmasked() { raw(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }

} // namespace nopal::mapped
