// SPDX-License-Identifier: MIT
// Signals are the program's: their actions hold for all its processes, their masks for a thread.
//
// A fault is never blocked, as the process may have to map something; so would a trapped system
// call kill if SIGSYS were blocked. What the program blocks of faults holds for those that are
// sent: they wait until the thread blocks them no more.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"

#include <cstdint>
#include <signal.h>
#include <ucontext.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

// What the program wants done at a signal, as the kernel's sigaction. The mask's bit 0 is signal 1.
struct action {
  std::uintptr_t handler; // 0 is SIG_DFL, 1 is SIG_IGN
  std::uint64_t flags;
  std::uintptr_t restorer;
  std::uint64_t mask;

  bool calls() const noexcept { return handler > 1; }
  bool has(int flag) const noexcept { return (flags & static_cast<unsigned>(flag)) != 0; }
};
// One table for all processes.
inline constexpr int most_signals = 64;
inline constinit action actions[most_signals + 1]{};
inline constinit base::spin_lock actions_lock; // to change them

constexpr std::uint64_t bit_of(int signal) noexcept { return std::uint64_t{1} << (signal - 1); }
inline constexpr std::uint64_t never_blocked = bit_of(SIGSYS) | bit_of(SIGSEGV) | bit_of(SIGBUS);
inline constexpr std::uint64_t all_signals = ~std::uint64_t{0};

// Reads what the program began with, and installs what mapped needs itself: handlers of SIGSYS, of
// SIGSEGV and SIGBUS, and of the notices.
using handler = void (*)(int, siginfo_t*, void*);
void open_actions(handler trap, handler notice) noexcept;
void close_actions() noexcept;

// Calls the program's handler, if it has one. It may leave by an exception (pthread_cancel).
void call_action(int signal, siginfo_t* info, void* context);
// The kernel's own action, at the same instruction or as soon as the handler returns.
void happen_by_default(int signal, bool was_sent) noexcept;

// What is taken from the code of a SIGCHLD that we send (waiting.cc): the kernel lets a program
// send no code of its own but from its first thread.
inline constexpr int told_by_us = 1 << 20;

inline std::uint64_t& mask_of(ucontext_t& context) noexcept {
  return *reinterpret_cast<std::uint64_t*>(&context.uc_sigmask);
}
// rt_sigprocmask: the mask is that to which the trap's handler returns.
long change_mask(long how, const std::uint64_t* set, std::uint64_t* before,
                 ucontext_t& context) noexcept;
// rt_sigaction.
long change_action(long signal, const action* wanted, action* before, long mask_bytes) noexcept;

// While it lives, a handler has this mask.
class masked {
public:
  explicit masked(std::uint64_t mask) noexcept;
  ~masked();
  masked(const masked&) = delete;
  masked& operator=(const masked&) = delete;

private:
  std::uint64_t before_;
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
