// SPDX-License-Identifier: MIT
// A thread that becomes a process stays behind as that one's twin. Where it is a thread of another
// process than the first, its twin is a thread that the first one makes.
#include "nopal/mapped/calls.h"

#include "nopal/base/die.h"
#include "nopal/base/shared.h"
#include "nopal/config.h"
#include "nopal/mapped/log.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/signals.h"
#include "nopal/mapped/twin.h"

#include <csignal>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

constexpr long kProcess =
    CLONE_FILES | CLONE_FS | CLONE_SYSVSEM | CLONE_IO | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
constexpr long kRawThread =
    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_IO;
constexpr std::uint64_t kBlocked = ~(never_blocked | bit_of(notice_signal)); // of a twin

// What the kernel keeps for a thread of the C library, and a clone does not get or must not have.
class thread_state {
public:
  thread_state() noexcept {
    raw(SYS_rt_sigprocmask, SIG_SETMASK, &kBlocked, &mask_, sizeof mask_);
    raw(SYS_get_robust_list, 0, &robust_, &robust_bytes_);
    has_area_ = __rseq_size != 0 && raw(SYS_rseq, area(), kAreaBytes, 1, RSEQ_SIG) == 0;
  }
  void restore() const noexcept {
    if (has_area_)
      raw(SYS_rseq, area(), kAreaBytes, 0, RSEQ_SIG);
    raw(SYS_set_robust_list, robust_, robust_bytes_);
    raw(SYS_rt_sigprocmask, SIG_SETMASK, &mask_, nullptr, sizeof mask_);
  }

private:
  static constexpr unsigned kAreaBytes = 32;
  static void* area() noexcept {
    return static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
  }
  std::uint64_t mask_ = 0;
  void* robust_ = nullptr;
  std::size_t robust_bytes_ = 0;
  bool has_area_ = false;
};

// The kernel refuses it also while another thread executes a program. Then this one ends here.
void must_have_begun(long process) noexcept {
  constexpr timespec while_executing{1, 0};
  if (process >= 0)
    return;
  raw(SYS_nanosleep, &while_executing, nullptr);
  base::die("the kernel refuses a process (error %ld); raise the limit on processes (ulimit -u)",
            -process);
}

// What the C library makes for a thread's stack is memory as other memory is (mappings.cc).
void guard_own_stack() noexcept {
  pthread_attr_t stack;
  void* low = nullptr;
  std::size_t bytes = 0, guard = 0;
  if (pthread_getattr_np(pthread_self(), &stack) != 0)
    return;
  pthread_attr_getstack(&stack, &low, &bytes);
  pthread_attr_getguardsize(&stack, &guard);
  pthread_attr_destroy(&stack);
  install_guard(reinterpret_cast<std::uintptr_t>(low) - guard, guard);
}

// The new process waits for its pid in the frame that holds the seat.
twin& let_go_on(long process, void* at) noexcept {
  const seat fresh = *static_cast<const seat*>(at);
  must_have_begun(process);
  release_own_log();
  take_seat(fresh.self, static_cast<int>(process));
  see_whether_ended(process);
  return *fresh.partner;
}

void become_twin(long process, void* fresh) { let_go_on(process, fresh).serve(); }

// Of a thread of another process: nothing stays.
void vanish(long process, void* fresh) {
  let_go_on(process, fresh);
  raw(SYS_set_tid_address, nullptr);
  raw(SYS_set_robust_list, nullptr, 24);
  raw(SYS_exit, 0);
}

struct wish {
  twin* partner;
};
long make_twin(wish& wanted) noexcept {
  const auto serve = [](void* partner) { static_cast<twin*>(partner)->serve(); };
  return nopal_arch_raw_thread(kRawThread, wanted.partner->stack_top(), serve, wanted.partner);
}

// A thread of this process that attends to the log. Its stack is too small for signals' handlers.
void begin_attendant() noexcept {
  if (!claim_attendant())
    return;
  const masked undisturbed{all_signals};
  void* const stack = reinterpret_cast<void*>(layout::own + layout::own_bytes / 4);
  must_have_begun(
      nopal_arch_raw_thread(kRawThread, stack, [](void*) { attend_to_log(); }, nullptr));
  note_attendant();
}

void begin_process(member* self, twin* partner, int* thread_id) noexcept {
  raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (raw(SYS_getppid) != first_pid())
    raw(SYS_exit_group, 1);
  own_state& mine = own();
  mine.pid = static_cast<int>(raw(SYS_getpid));
  mine.is_first = false;
  mine.partner = partner;
  mine.thread_id_at = thread_id;
  mine.self = self;
  wait_for_seat(self, mine.pid);
  release_log();                                                       // which its parent has taken
  raw(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0); // of one thread, it is quick
  begin_attendant();
  const range view = view_range();
  raw(SYS_mmap, view.low, view.end - view.low, PROT_NONE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

} // namespace

void become_process() noexcept {
  if (!on() || raw(SYS_gettid) == own().pid)
    return;
  const thread_state before;
  seat fresh = find_seat();
  int* thread_id = nullptr;
  raw(SYS_prctl, PR_GET_TID_ADDRESS, &thread_id);
  const bool in_first = own().is_first;
  if (in_first) {
    begin_attendant();
  } else {
    wish wanted{fresh.partner};
    must_have_begun(in_first_process(make_twin, wanted));
    add_dependent(own().partner);
  }
  hold_log();
  prepare_seat(fresh.self);
  nopal_arch_part(kProcess | (in_first ? notice_signal : CLONE_PARENT), thread_id,
                  fresh.stack_top(in_first), in_first ? become_twin : vanish, &fresh);
  begin_process(fresh.self, fresh.partner, thread_id);
  before.restore();
  guard_own_stack();
}

long fork_process(long flags, long stack, int* child_tid, ucontext_t& context) noexcept {
  constexpr long kKept = CLONE_FILES | CLONE_FS | CLONE_PARENT | CLONE_SYSVSEM | CLONE_IO | 0xff;
  const thread_state before;
  const bool in_first = own().is_first;
  hold_mappings();
  begin_snapshot();
  const long made = nopal_arch_fork_on((flags & kKept) | (in_first ? 0 : CLONE_PARENT),
                                       own_stack_top(), [](long process) {
                                         if (process == 0)
                                           take_snapshot();
                                         else if (process > 0)
                                           wait_for_snapshot();
                                       });
  release_mappings();
  before.restore();
  if (made > 0 && !in_first)
    note_child(made);
  if (made != 0)
    return made;
  forget_log(); // what is given back takes the locks that were held
  forget_children();
  const int self = static_cast<int>(raw(SYS_gettid));
  if ((flags & CLONE_CHILD_SETTID) != 0)
    *child_tid = self;
  if ((flags & CLONE_CHILD_CLEARTID) != 0)
    raw(SYS_set_tid_address, child_tid);
  if (stack != 0)
    context.uc_mcontext.gregs[REG_RSP] = stack;
  return 0;
}

void end_thread(long code) noexcept {
  own_state& mine = own();
  if (!mine.is_first && raw(SYS_gettid) == mine.pid) {
    const masked undisturbed{all_signals}; // who joins the thread may free this stack
    dismiss_attendant();
    raw(SYS_set_tid_address, nullptr); // while it is there, the kernel would store 0 there again
    static_assert(NOPAL_FUTEX_WAKE == FUTEX_WAKE);
    nopal_arch_end_thread(mine.thread_id_at);
  }
  raw(SYS_exit, code);
  __builtin_unreachable();
}

void end_program(long code) noexcept {
  if (!own().is_first && raw(SYS_getpid) == own().pid) // else a child that shares the memory
    in_first_process(+[](long& status) { return raw(SYS_exit_group, status); }, code);
  raw(SYS_exit_group, code);
  __builtin_unreachable();
}

void open_processes() noexcept {
  own_state& mine = own();
  mine.pid = static_cast<int>(raw(SYS_getpid));
  mine.is_first = true;
  mine.self = &members[0];
  take_seat(mine.self, mine.pid);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
