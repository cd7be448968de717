// SPDX-License-Identifier: MIT
// What the kernel would do with a signal, done by hand where one handler stands before another.
#include "nopal/base/faults.h"

#include "nopal/base/os.h"

#include <sys/auxv.h>
#include <sys/mman.h>

namespace nopal::base {
namespace {

// A handler of the program runs there too, and its frames must not leave the stack unnoticed.
constexpr std::size_t kGuardBytes = std::size_t{512} << 10;

// The registers that the kernel saves there may be many (AVX-512, AMX).
std::size_t signal_stack_bytes() noexcept {
  const std::size_t all = (std::size_t{32} << 10) + getauxval(AT_MINSIGSTKSZ);
  return (all + page_size() - 1) / page_size() * page_size();
}

} // namespace

bool fault_handler::install(function own) noexcept {
  if (installed_)
    return true; // another handler stands before it, and may call it
  spent_.store(false, relaxed);
  if (sigaction(SIGSEGV, nullptr, &previous_) != 0)
    return false;
  own_ = previous_;
  own_.sa_sigaction = own;
  own_.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous_.sa_flags & (SA_NODEFER | SA_RESTART));
  if (is_first() && !is_default())
    own_.sa_flags |= SA_RESTART; // what is ignored interrupts no call
  installed_ = sigaction(SIGSEGV, &own_, nullptr) == 0;
  return installed_;
}

void fault_handler::uninstall() noexcept {
  struct sigaction now{};
  sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == own_.sa_sigaction)
    installed_ = sigaction(SIGSEGV, &previous_, nullptr) != 0;
}

bool fault_handler::is_default() const noexcept {
  return spent_.load(relaxed) ||
         ((previous_.sa_flags & SA_SIGINFO) == 0 && previous_.sa_handler == SIG_DFL);
}
bool fault_handler::is_first() const noexcept {
  return is_default() ||
         ((previous_.sa_flags & SA_SIGINFO) == 0 && previous_.sa_handler == SIG_IGN);
}

void fault_handler::pass_on(int signal, siginfo_t* info, void* context) noexcept {
  if (!is_fault(info) && is_first() && !is_default())
    return; // ignored; a fault cannot be
  if (!is_first()) {
    const bool once = (previous_.sa_flags & static_cast<int>(SA_RESETHAND)) != 0;
    if (!once || !spent_.exchange(true, relaxed)) {
      if ((previous_.sa_flags & SA_SIGINFO) != 0)
        return previous_.sa_sigaction(signal, info, context);
      return previous_.sa_handler(signal);
    }
  }
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  if (!is_fault(info)) // a fault comes again
    raise(signal);
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
