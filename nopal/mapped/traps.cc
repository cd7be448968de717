// SPDX-License-Identifier: MIT
// The handler blocks all signals but faults, so that none interrupts a thread that holds a lock.
#include "nopal/mapped/traps.h"

#include "nopal/mapped/clones.h"
#include "nopal/mapped/log.h"
#include "nopal/mapped/mappings.h"
#include "nopal/mapped/own.h"
#include "nopal/mapped/process_calls.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/signals.h"
#include "nopal/mapped/waiting.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <ucontext.h>

namespace nopal::mapped {
namespace {

constexpr int kTrapped[] = {
    SYS_mmap,  SYS_munmap, SYS_mprotect, SYS_mremap, SYS_brk,          SYS_rt_sigprocmask, SYS_exit,
    SYS_wait4, SYS_waitid, SYS_fork,     SYS_vfork,  SYS_rt_sigaction, SYS_exit_group};

template <class T> T* pointer(long value) noexcept { return reinterpret_cast<T*>(value); }
std::uintptr_t address(long value) noexcept { return static_cast<std::uintptr_t>(value); }
std::size_t size(long value) noexcept { return static_cast<std::size_t>(value); }
int number(long value) noexcept { return static_cast<int>(value); }

// A trapped call. `arguments` are written back to the registers where it is made again.
struct call {
  static constexpr int kPlaces[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

  explicit call(ucontext_t& of) noexcept : context{of}, number{of.uc_mcontext.gregs[REG_RAX]} {
    for (int i = 0; i < 6; ++i)
      arguments[i] = of.uc_mcontext.gregs[kPlaces[i]];
  }

  // It is made when the handler returns, with the program's signal mask, and then the program goes
  // on. So a signal interrupts it as ever.
  void make_again() noexcept {
    greg_t* const registers = context.uc_mcontext.gregs;
    for (int i = 0; i < 6; ++i)
      registers[kPlaces[i]] = arguments[i];
    registers[REG_RSP] = leave_return_address(registers[REG_RSP]);
    registers[REG_RIP] = reinterpret_cast<long>(nopal_arch_again);
  }
  // For the side of a clone that has this stack pointer. Returns what it is to be at the call.
  long leave_return_address(long stack) const noexcept {
    *pointer<long>(stack - NOPAL_ARCH_AGAIN) = context.uc_mcontext.gregs[REG_RIP];
    return stack - NOPAL_ARCH_AGAIN;
  }

  ucontext_t& context;
  long number;
  long arguments[6];
};

// posix_spawn and its like: the child runs on a stack of its own, in the caller's memory.
void spawn(call& made) noexcept {
  if (!own().is_first)
    made.arguments[0] |= CLONE_PARENT; // a child of the first process, as all are
  made.arguments[1] = made.leave_return_address(made.arguments[1]);
}

long of_memory(const call& made) noexcept {
  const auto& a = made.arguments;
  switch (made.number) {
  case SYS_mmap:
    return map(address(a[0]), size(a[1]), number(a[2]), number(a[3]), number(a[4]), a[5]);
  case SYS_munmap:
    return unmap(address(a[0]), size(a[1]));
  case SYS_mprotect:
    return protect(address(a[0]), size(a[1]), number(a[2]));
  case SYS_mremap:
    return remap(address(a[0]), size(a[1]), size(a[2]), number(a[3]));
  case SYS_madvise:
    return advise(address(a[0]), size(a[1]), number(a[2]));
  default:
    return change_break(address(a[0]));
  }
}

// Calls that threads make for themselves. True: `result` stands for the call.
bool of_thread(call& made, long& result) noexcept {
  auto& a = made.arguments;
  switch (made.number) {
  case SYS_futex:
    counted().futexes.fetch_add(1, base::relaxed);
    a[1] &= ~FUTEX_PRIVATE_FLAG;
    return false;
  case SYS_membarrier:
    a[0] = a[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED ? MEMBARRIER_CMD_GLOBAL_EXPEDITED
                                                    : MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
    return false;
  case SYS_rt_sigprocmask:
    result =
        change_mask(a[0], pointer<std::uint64_t>(a[1]), pointer<std::uint64_t>(a[2]), made.context);
    return true;
  case SYS_rt_sigaction:
    result = change_action(a[0], pointer<action>(a[1]), pointer<action>(a[2]), a[3]);
    return true;
  case SYS_exit:
    end_thread(a[0]);
  default:
    end_program(a[0]);
  }
}

bool of_children(call& made, long& result) noexcept {
  auto& a = made.arguments;
  switch (made.number) {
  case SYS_wait4:
    result = wait4(number(a[0]), pointer<int>(a[1]), a[2], pointer<void>(a[3]), made.context);
    return true;
  case SYS_waitid:
    result = waitid(a[0], a[1], pointer<void>(a[2]), a[3], pointer<void>(a[4]), made.context);
    return true;
  case SYS_clone:
    if ((a[0] & CLONE_VM) != 0 && a[1] != 0)
      return spawn(made), false;
    result = fork_process(a[0], a[1], pointer<int>(a[3]), made.context);
    return true;
  default: // fork, and vfork, whose child runs on the caller's stack
    result = fork_process(SIGCHLD, 0, nullptr, made.context);
    return true;
  }
}

bool answer(call& made, long& result) noexcept {
  switch (made.number) {
  case SYS_mmap:
  case SYS_munmap:
  case SYS_mprotect:
  case SYS_mremap:
  case SYS_madvise:
  case SYS_brk:
    result = of_memory(made);
    return true;
  case SYS_futex:
  case SYS_membarrier:
  case SYS_rt_sigprocmask:
  case SYS_rt_sigaction:
  case SYS_exit:
  case SYS_exit_group:
    return of_thread(made, result);
  case SYS_wait4:
  case SYS_waitid:
  case SYS_clone:
  case SYS_fork:
  case SYS_vfork:
    return of_children(made, result);
  default:
    return call_of_process(made.number, made.arguments, result);
  }
}

} // namespace

std::span<const int> trapped_calls() noexcept { return kTrapped; }

void on_trap(int, siginfo_t* info, void* context) {
  if (info->si_errno != trap_mark)
    return static_cast<void>(catch_up());
  counted().trapped.fetch_add(1, base::relaxed);
  call made{*static_cast<ucontext_t*>(context)};
  long result = 0;
  if (answer(made, result))
    made.context.uc_mcontext.gregs[REG_RAX] = result;
  else
    made.make_again();
}

} // namespace nopal::mapped
