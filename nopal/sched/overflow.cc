// SPDX-License-Identifier: MIT
//
// A stack overflow ends in a sentence: the handler of SIGSEGV, on a signal stack of its own.
#include "nopal/base/check.h"
#include "nopal/sched/pool.h"
#include "nopal/stack/stack.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>

namespace nopal::inline NOPAL_ABI::sched {

namespace {

struct sigaction previous;
char sentence[256];

void on_fault(int signal, siginfo_t* info, void* context) {
  if (stack::in_guard(reinterpret_cast<std::uintptr_t>(info->si_addr)))
    base::die_in_signal_handler(sentence);
  if ((previous.sa_flags & SA_SIGINFO) != 0)
    return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(signal);
  sigaction(signal, &previous,
            nullptr); // back at the instruction, it faults again and ends as it would
}

} // namespace

void report_stack_overflows() {
  std::snprintf(sentence, sizeof sentence,
                "stack overflow: the recursion needs more than the %zu KiB of one stack; raise "
                "NOPAL_STACK_SIZE (now %zuK)",
                stack::size() >> 10, stack::size() >> 10);
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  NOPAL_ASSERT(sigaction(SIGSEGV, &action, &previous) == 0,
               "the handler that reports stack overflows cannot be installed");
}

void check_depth(const void* in_frame, stack::stack_id stack) noexcept {
  NOPAL_ASSERT(reinterpret_cast<std::uintptr_t>(in_frame) >= stack::lowest_fork(stack), "%s",
               sentence);
}

} // namespace nopal::inline NOPAL_ABI::sched
