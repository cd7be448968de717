// SPDX-License-Identifier: MIT
// The guard below the region, and the handler of faults there.
#include "nopal/process/guard.h"

#include "nopal/base/die.h"
#include "nopal/base/thread.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

layout guarded;
char sentence[256]; // made before, since a handler formats nothing
std::vector<unsigned char> handler_stack;
struct sigaction before;
stack_t stack_before;

void on_fault(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (at >= guarded.guard_at() && at < guarded.region_at())
    base::die_in_signal_handler(sentence);
  sigaction(signal, &before, nullptr); // the instruction faults again, there
}

} // namespace

void guard_region(const layout& as) {
  guarded = as;
  std::snprintf(sentence, sizeof sentence,
                "the tasks of a process need more than the uni-address region of %zu bytes for "
                "their stacks; set NOPAL_REGION_SIZE or process::options::region_size to a larger "
                "power of two, up to 1G",
                as.region_size);
  if (mprotect(reinterpret_cast<void*>(as.guard_at()), guard_size, PROT_NONE) != 0)
    base::die("the guard below the uni-address region could not be made: %s", std::strerror(errno));
  handler_stack.resize(base::signal_stack_bytes());
  stack_t own{};
  own.ss_sp = handler_stack.data();
  own.ss_size = handler_stack.size();
  sigaltstack(&own, &stack_before);
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &before);
}

void unguard_region() noexcept {
  sigaction(SIGSEGV, &before, nullptr);
  sigaltstack(&stack_before, nullptr);
}

} // namespace nopal::inline NOPAL_ABI::process
