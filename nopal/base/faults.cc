// SPDX-License-Identifier: MIT
// The handler of SIGSEGV. After its looks it does what the kernel would have done without it.
#include "nopal/base/faults.h"

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace nopal::base {
namespace {

// The guard below a signal stack, on which handlers of the program run too.
constexpr std::size_t kGuardBytes = std::size_t{512} << 10;

// The kernel saves the registers on a signal stack, and these may be many (AVX-512, AMX).
std::size_t signal_stack_bytes() noexcept {
  const std::size_t all = (std::size_t{32} << 10) + getauxval(AT_MINSIGSTKSZ);
  return (all + page_size() - 1) / page_size() * page_size();
}

atomic<fault_look> looks[most_fault_looks]{}; // null: none
// The handler reads `previous` and `spent`, so both are written before it is installed.
bool installed = false;
struct sigaction ours{};
struct sigaction previous{};
atomic<bool> spent{false}; // the previous handler was to be called once (SA_RESETHAND)

bool is_default() noexcept {
  return spent.load(relaxed) ||
         ((previous.sa_flags & SA_SIGINFO) == 0 && previous.sa_handler == SIG_DFL);
}

bool is_fault(const siginfo_t* info) noexcept { return info->si_code > 0; } // false: it was sent

// The handler's last step: what would have happened without it.
void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  if (!is_fault(info) && is_first_fault_handler() && !is_default())
    return; // the program ignores the signal; the kernel lets nobody ignore a fault
  if (!is_first_fault_handler()) {
    const bool once = (previous.sa_flags & static_cast<int>(SA_RESETHAND)) != 0;
    if (!once || !spent.exchange(true, relaxed)) {
      if ((previous.sa_flags & SA_SIGINFO) != 0)
        return previous.sa_sigaction(signal, info, context);
      return previous.sa_handler(signal);
    }
  }
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  if (!is_fault(info)) // a fault comes again by itself, when the instruction runs again
    raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (is_fault(info))
    for (const atomic<fault_look>& each : looks)
      if (const fault_look look = each.load(relaxed))
        look(reinterpret_cast<std::uintptr_t>(info->si_addr), context);
  pass_on(signal, info, context);
}

bool install() noexcept {
  spent.store(false, relaxed);
  if (sigaction(SIGSEGV, nullptr, &previous) != 0)
    return false;
  ours = previous;
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous.sa_flags & (SA_NODEFER | SA_RESTART));
  if (is_first_fault_handler() && !is_default())
    ours.sa_flags |= SA_RESTART; // a signal that the program ignores interrupts no system call
  installed = sigaction(SIGSEGV, &ours, nullptr) == 0;
  return installed;
}

void uninstall() noexcept {
  struct sigaction now{};
  sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == ours.sa_sigaction)
    installed = sigaction(SIGSEGV, &previous, nullptr) != 0;
}

} // namespace

bool add_fault_look(fault_look look) noexcept {
  atomic<fault_look>* free = nullptr;
  for (atomic<fault_look>& each : looks) {
    const fault_look registered = each.load(relaxed);
    if (registered == look)
      return true;
    if (registered == nullptr && free == nullptr)
      free = &each;
  }
  if (free == nullptr)
    return false;
  // Before the handler is installed, so that no fault between the two goes unseen.
  free->store(look, relaxed);
  return installed || install();
}

void remove_fault_look(fault_look look) noexcept {
  bool none_is_left = true;
  for (atomic<fault_look>& each : looks) {
    if (each.load(relaxed) == look)
      each.store(nullptr, relaxed);
    none_is_left &= each.load(relaxed) == nullptr;
  }
  if (none_is_left)
    uninstall();
}

bool is_first_fault_handler() noexcept {
  return is_default() || ((previous.sa_flags & SA_SIGINFO) == 0 && previous.sa_handler == SIG_IGN);
}

signal_stack::signal_stack() noexcept {
  stack_t before{};
  sigaltstack(nullptr, &before);
  if ((before.ss_flags & SS_DISABLE) == 0)
    return;
  const std::size_t usable = signal_stack_bytes();
  void* const all = reserve(kGuardBytes + usable, page_size());
  if (all == nullptr)
    return;
  memory_ = all;
  size_ = kGuardBytes + usable;
  const stack_t own{static_cast<char*>(all) + kGuardBytes, 0, usable};
  if (commit(own.ss_sp, usable))
    sigaltstack(&own, nullptr);
}

signal_stack::~signal_stack() {
  if (memory_ == nullptr)
    return;
  stack_t now{};
  sigaltstack(nullptr, &now);
  const stack_t none{nullptr, SS_DISABLE, 0};
  if (now.ss_sp == static_cast<char*>(memory_) + kGuardBytes)
    sigaltstack(&none, nullptr);
  munmap(memory_, size_);
}

} // namespace nopal::base
