// SPDX-License-Identifier: MIT
// The system calls about signals, and what happens at SIGSEGV and SIGBUS.
#pragma once

#include "nopal/config.h"
#include "nopal/mapped/actions.h"

#include <cstdint>
#include <signal.h>
#include <ucontext.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

inline std::uint64_t& mask_of(ucontext_t& context) noexcept {
  return *reinterpret_cast<std::uint64_t*>(&context.uc_sigmask);
}

// rt_sigprocmask: the mask is that to which the trap's handler returns.
long change_mask(long how, const std::uint64_t* set, std::uint64_t* before,
                 ucontext_t& context) noexcept;
// rt_sigaction.
long change_action(long signal, const action* wanted, action* before, long mask_bytes) noexcept;

// The handler of SIGSEGV and SIGBUS.
void on_fault(int signal, siginfo_t* info, void* context);

// While it lives, a handler that blocks all signals takes those that the program does not block.
class unmasked {
public:
  explicit unmasked(ucontext_t& context) noexcept;
  ~unmasked();
  unmasked(const unmasked&) = delete;
  unmasked& operator=(const unmasked&) = delete;

private:
  std::uint64_t before_;
};

} // namespace nopal::mapped
NOPAL_HIDDEN_END
