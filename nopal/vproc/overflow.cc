// SPDX-License-Identifier: MIT
// A stack overflow ends in a sentence: the handler of SIGSEGV (base/faults.h) calls look_at_fault.
//
// A strand runs on a stack of ours, or, in the outermost function of a thread that Nopal did not
// start, on that thread's own stack.
#include "nopal/vproc/overflow.h"

#include "nopal/base/check.h"
#include "nopal/base/faults.h"
#include "nopal/base/os.h"
#include "nopal/stack/small.h"
#include "nopal/vproc/worker.h"

#include <ucontext.h>

#include <cstdio>

namespace nopal::inline NOPAL_ABI::vproc {
namespace {

char sentence[256];
char sentence_of_fibers[256];
// The lowest address of this thread's own stack, plus 1 on a thread of the pool; 0: not known.
thread_local std::uintptr_t own_low __attribute__((tls_model("initial-exec"))) = 0;
constexpr std::uintptr_t kOfPool = 1;
// Asks other copies of Nopal in this process, with which the thread may have forked.
std::uintptr_t (*lowest_known_to_others)() noexcept = nullptr;

std::uintptr_t stack_pointer_at(const void* context) noexcept {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return static_cast<std::uintptr_t>(registers[REG_RSP]);
}

// Whether the stack pointer is in a guard, or in the lowest page above one. Where it is not, nobody
// has come to a guard by calls, but by a pointer: a collector reads on from a strand's stack to the
// end of its thread's, say.
bool is_at_an_end(const void* context) noexcept {
  const std::uintptr_t at = stack_pointer_at(context);
  return stack::in_guard(at) || stack::in_guard(at - base::page_size());
}

// A function uses what is above its stack pointer, and a few words below it. An address further
// below, in a guard, comes from the program's data: it is no overflow.
bool is_within_reach(std::uintptr_t address, const void* context) noexcept {
  return address + base::page_size() >= stack_pointer_at(context);
}

// A frame that is larger than the guard below its stack leaps over it, to where no stack is or that
// of another strand. So the stack that the thread's strand is on tells, and not the address.
constexpr std::uintptr_t kLargestLeap = std::uintptr_t{64} << 20;

// The stack that the strand has left at its lower end; no_stack: none.
stack::stack_id left_by_strand(std::uintptr_t address, const void* context) noexcept {
  const worker* const self = current();
  if (!is_worker(self) || self->stack == stack::no_stack)
    return stack::no_stack;
  const std::uintptr_t low = stack::bottom(self->stack);
  const std::uintptr_t at = stack_pointer_at(context);
  return at < low && low - at < kLargestLeap && address < low ? self->stack : stack::no_stack;
}

// Whether both the fault and the stack pointer are near the end of the thread's own stack: a thread
// that overflows it is at most one frame beyond.
bool left_own_stack(std::uintptr_t address, const void* context) noexcept {
  const std::uintptr_t at = stack_pointer_at(context);
  const std::uintptr_t own = lowest_of_this_threads_stack();
  const std::uintptr_t low = own != 0 ? own : lowest_known_to_others();
  const std::uintptr_t frame = kLargestLeap;
  const auto at_the_end = [=](std::uintptr_t place) {
    return place - (low - frame) < frame + base::page_size();
  };
  return low != 0 && at_the_end(address) && at_the_end(at);
}

void look_at_fault(std::uintptr_t address, const void* context, bool is_first) {
  if (is_within_reach(address, context)) {
    const stack::stack_id left = stack::in_guard(address) && is_at_an_end(context)
                                     ? address
                                     : left_by_strand(address, context);
    if (left != stack::no_stack)
      base::die_in_signal_handler(stack::small::holds(left) ? sentence_of_fibers : sentence);
  }
  if (stack::view::holds(address)) // the process shows nothing there
    base::die_in_signal_handler(
        "an address on the stack of another strand was used, which only that one's process and "
        "those of the strands below it see (nopal::mapped); put what strands share on the heap, or "
        "into a frame above both");
  const bool of_pool = (own_low & kOfPool) != 0;
  if ((!of_pool && !is_first) || !left_own_stack(address, context))
    return;
  base::die_in_signal_handler(
      of_pool
          ? "stack overflow: what runs as no strand (an action, put, take, a callback of a token) "
            "needs more than the own stack of a thread of the pool; let a strand do it"
          : "stack overflow: the recursion needs more than the calling thread's own stack, where "
            "its outermost function runs; raise the limit on it (ulimit -s), or the size that the "
            "thread was created with");
}

} // namespace

void report_stack_overflows(std::uintptr_t (*ask_others)() noexcept) {
  lowest_known_to_others = ask_others;
  std::snprintf(sentence, sizeof sentence,
                "stack overflow: the recursion needs more than the %zu KiB of one stack; raise "
                "NOPAL_STACK_SIZE (now %zuK)",
                stack::size() >> 10, stack::size() >> 10);
  std::snprintf(sentence_of_fibers, sizeof sentence_of_fibers,
                "stack overflow: a spawned fiber needs more than the %zu KiB of its stack; raise "
                "NOPAL_FIBER_STACK_SIZE (now %zuK)",
                stack::small::size() >> 10, stack::small::size() >> 10);
  NOPAL_ASSERT(base::add_fault_look(look_at_fault),
               "the handler that reports stack overflows cannot be installed");
}

void report_overflow_of_own_stack(bool of_pool) noexcept {
  const int error = *base::this_threads_error(); // the first fork of a thread does not change it
  const std::uintptr_t low = base::lowest_of_own_stack();
  own_low = low != 0 && of_pool ? low | kOfPool : low;
  base::set_error(error);
}

std::uintptr_t lowest_of_this_threads_stack() noexcept { return own_low & ~kOfPool; }

void check_depth(const void* in_frame, stack::stack_id stack) noexcept {
  NOPAL_ASSERT(reinterpret_cast<std::uintptr_t>(in_frame) >= stack::lowest_fork(stack), "%s",
               stack::small::holds(stack) ? sentence_of_fibers : sentence);
}

} // namespace nopal::inline NOPAL_ABI::vproc
