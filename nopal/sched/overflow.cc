// SPDX-License-Identifier: MIT
// A stack overflow ends in a sentence: the handler of SIGSEGV, on a signal stack of its own.
//
// A strand runs on a stack of ours, or, in the outermost function of a thread that Nopal did not
// start, on that thread's own stack.
#include "nopal/sched/overflow.h"

#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/sched/copies.h"
#include "nopal/stack/small.h"

#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

struct sigaction previous;
char sentence[256];
char sentence_of_fibers[256];
// The lowest address of this thread's own stack; 0: it is a pool thread, or not known.
thread_local std::uintptr_t own_low __attribute__((tls_model("initial-exec"))) = 0;

// How far below its end a stack is left at once: a frame's size.
constexpr std::uintptr_t kFrame = std::uintptr_t{1} << 20;

// Known to the copy of Nopal with which the thread has forked.
std::uintptr_t lowest_known_to_any_copy() noexcept {
  std::uintptr_t lowest = own_low;
  for (std::uint32_t i = 0; i + 1 < copies() && lowest == 0; ++i)
    lowest = other_copy(i)->own_stack();
  return lowest;
}

// A thread that has left its stack faults there, and its stack pointer is at the end, or beyond it.
bool left_own_stack(std::uintptr_t address, const void* context) noexcept {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  const auto at = static_cast<std::uintptr_t>(registers[REG_RSP]);
  const std::uintptr_t lowest = lowest_known_to_any_copy();
  const auto at_the_end = [lowest](std::uintptr_t where) {
    return where - (lowest - kFrame) < kFrame + base::page_size();
  };
  return lowest != 0 && at_the_end(address) && at_the_end(at);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (stack::in_guard(address))
    base::die_in_signal_handler(stack::small::holds(address) ? sentence_of_fibers : sentence);
  if ((previous.sa_flags & SA_SIGINFO) != 0)
    return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(signal);
  if (left_own_stack(address, context))
    base::die_in_signal_handler(
        "stack overflow: the recursion needs more than the calling thread's own stack, where its "
        "outermost function runs; raise the limit on it (ulimit -s), or the size that the thread "
        "was created with");
  sigaction(signal, &previous, nullptr);
  if (info->si_code <= 0) // a signal that was sent, and is lost; a fault comes again
    raise(signal);
}

} // namespace

void report_stack_overflows() {
  std::snprintf(sentence, sizeof sentence,
                "stack overflow: the recursion needs more than the %zu KiB of one stack; raise "
                "NOPAL_STACK_SIZE (now %zuK)",
                stack::size() >> 10, stack::size() >> 10);
  std::snprintf(sentence_of_fibers, sizeof sentence_of_fibers,
                "stack overflow: a spawned fiber needs more than the %zu KiB of its stack; raise "
                "NOPAL_FIBER_STACK_SIZE (now %zuK)",
                static_cast<std::size_t>(stack::small::slot_bytes() >> 10),
                static_cast<std::size_t>(stack::small::slot_bytes() >> 10));
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  NOPAL_ASSERT(sigaction(SIGSEGV, &action, &previous) == 0,
               "the handler that reports stack overflows cannot be installed");
}

void report_overflow_of_own_stack() noexcept {
  const int error = *base::this_threads_error();
  own_low = base::lowest_of_own_stack();
  base::set_error(error);
}

std::uintptr_t lowest_of_this_threads_stack() noexcept { return own_low; }

signal_stack::signal_stack() noexcept {
  constexpr std::size_t size = std::size_t{32} << 10;
  stack_t before{};
  sigaltstack(nullptr, &before);
  if ((before.ss_flags & SS_DISABLE) == 0)
    return;
  memory_ = std::malloc(size);
  const stack_t own{memory_, 0, size};
  if (memory_ != nullptr)
    sigaltstack(&own, nullptr);
}

signal_stack::~signal_stack() {
  if (memory_ == nullptr)
    return;
  const stack_t none{nullptr, SS_DISABLE, 0};
  sigaltstack(&none, nullptr);
  std::free(memory_);
}

void check_depth(const void* in_frame, stack::stack_id stack) noexcept {
  NOPAL_ASSERT(reinterpret_cast<std::uintptr_t>(in_frame) >= stack::lowest_fork(stack), "%s",
               stack::small::holds(stack) ? sentence_of_fibers : sentence);
}

} // namespace nopal::inline NOPAL_ABI::sched
