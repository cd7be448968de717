// SPDX-License-Identifier: MIT
// The handler of SIGSEGV. After its looks it does what the kernel would have done without it.
#include "nopal/base/faults.h"

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"

#include <iterator>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {
namespace {

// The guard below a signal stack, on which handlers of the program run too.
constexpr std::size_t kGuardBytes = std::size_t{512} << 10;

// The kernel saves the registers on a signal stack, and these may be many (AVX-512, AMX).
std::size_t signal_stack_bytes() noexcept {
  const std::size_t all = (std::size_t{32} << 10) + getauxval(AT_MINSIGSTKSZ);
  return (all + page_size() - 1) / page_size() * page_size();
}

atomic<fault_look> looks[most_fault_looks]{}; // null: none
// A program may install a handler of its own above Nopal's, and call Nopal's from there. So what
// Nopal installs above that one later is another function, with another handler before it: none of
// them comes back to itself.
//
// Invariant: levels[i].previous is what was there before handlers[i]. It is written before
//            handlers[i] is installed, and stays while somebody may call that: as long as i < used.
struct level {
  struct sigaction previous;
  atomic<bool> spent; // the previous handler was to be called once (SA_RESETHAND)

  bool is_default() const noexcept {
    return spent.load(relaxed) ||
           ((previous.sa_flags & SA_SIGINFO) == 0 && previous.sa_handler == SIG_DFL);
  }
  bool is_first() const noexcept {
    return is_default() ||
           ((previous.sa_flags & SA_SIGINFO) == 0 && previous.sa_handler == SIG_IGN);
  }
};
constexpr unsigned most_levels = 4;
level levels[most_levels]{};
unsigned used = 0; // the thread that adds or removes a look writes it

bool is_fault(const siginfo_t* info) noexcept { return info->si_code > 0; } // false: it was sent

// The handler's last step: what would have happened without it.
void pass_on(level& own, int signal, siginfo_t* info, void* context) noexcept {
  if (!is_fault(info) && own.is_first() && !own.is_default())
    return; // the program ignores the signal; the kernel lets nobody ignore a fault
  if (!own.is_first()) {
    const bool once = (own.previous.sa_flags & static_cast<int>(SA_RESETHAND)) != 0;
    if (!once || !own.spent.exchange(true, relaxed)) {
      if ((own.previous.sa_flags & SA_SIGINFO) != 0)
        return own.previous.sa_sigaction(signal, info, context);
      return own.previous.sa_handler(signal);
    }
  }
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  if (!is_fault(info)) // a fault comes again by itself, when the instruction runs again
    raise(signal);
}

template <unsigned Level> void on_fault(int signal, siginfo_t* info, void* context) {
  level& own = levels[Level];
  if (is_fault(info))
    for (const atomic<fault_look>& each : looks)
      if (const fault_look look = each.load(relaxed))
        look(reinterpret_cast<std::uintptr_t>(info->si_addr), context, own.is_first());
  pass_on(own, signal, info, context);
}
constexpr void (*handlers[])(int, siginfo_t*, void*) = {on_fault<0>, on_fault<1>, on_fault<2>,
                                                        on_fault<3>};
static_assert(std::size(handlers) == most_levels);

bool is_on_top() noexcept {
  struct sigaction now{};
  sigaction(SIGSEGV, nullptr, &now);
  return used > 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == handlers[used - 1];
}

bool install() noexcept {
  if (is_on_top() || used == most_levels)
    return true;
  level& own = levels[used];
  own.spent.store(false, relaxed);
  if (sigaction(SIGSEGV, nullptr, &own.previous) != 0)
    return false;
  struct sigaction ours = own.previous;
  ours.sa_sigaction = handlers[used];
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (own.previous.sa_flags & (SA_NODEFER | SA_RESTART));
  if (own.is_first() && !own.is_default())
    ours.sa_flags |= SA_RESTART; // a signal that the program ignores interrupts no system call
  const bool installed = sigaction(SIGSEGV, &ours, nullptr) == 0;
  used += installed ? 1 : 0;
  return installed;
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
  return install();
}

void remove_fault_look(fault_look look) noexcept {
  bool none_is_left = true;
  for (atomic<fault_look>& each : looks) {
    if (each.load(relaxed) == look)
      each.store(nullptr, relaxed);
    none_is_left &= each.load(relaxed) == nullptr;
  }
  if (none_is_left && is_on_top() && sigaction(SIGSEGV, &levels[used - 1].previous, nullptr) == 0)
    --used;
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

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
