// SPDX-License-Identifier: MIT
// The handlers of fork(2), and how the region changes its memory under a task.
#include "nopal/process/run/forked.h"

#include "nopal/arch/arch.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/process/run/worker.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

extern "C" {
pid_t __fork();                           // the C library's
[[gnu::weak]] pid_t __interceptor_fork(); // a sanitizer's, which calls the C library's; or null
}

namespace nopal::inline NOPAL_ABI::process {
namespace {

struct state {
  layout memory{};
  void (*in_child)() = nullptr; // null: there is no session
  bool is_child = false;        // of a process of a session
  bool runs = false;
  // While the process forks: where the shared pages or the copies are, if anywhere.
  std::uintptr_t alias = 0;
  std::uintptr_t copies = 0;
  std::uintptr_t caller = 0; // the stack pointer of the thread on the region
  sigset_t mask{};           // of signals, when it began to fork

  std::size_t bytes() const noexcept { return memory.region_end() - memory.region_at(); }
};
state forks;
std::mutex held;

// A handler of signals may fork, so none comes while this thread has the mutex.
sigset_t lock() noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  held.lock();
  return before;
}
void unlock(sigset_t before) noexcept {
  held.unlock();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
class changing {
public:
  changing() noexcept : before_{lock()} {}
  ~changing() { unlock(before_); }
  changing(const changing&) = delete;
  changing& operator=(const changing&) = delete;

private:
  const sigset_t before_;
};

[[noreturn]] void die_of(const char* what) noexcept {
  base::die("the program forks in a task, and the child's copy of the task's stacks (%zu bytes) "
            "could not be %s: %s; posix_spawn needs no such copy",
            forks.bytes(), what, std::strerror(errno));
}

// Word by word and past sanitizers, since these are whole frames.
NOPAL_READS_FRAMES void copy_frames(std::uintptr_t from, std::uintptr_t end,
                                    std::uintptr_t to) noexcept {
  const base::reading_frames permitted;
  for (; from < end; from += sizeof(std::uint64_t), to += sizeof(std::uint64_t))
    *reinterpret_cast<volatile std::uint64_t*>(to) =
        *reinterpret_cast<const volatile std::uint64_t*>(from);
}

// UCX has an mremap of its own in the place of the C library's, which does not know MREMAP_FIXED.
std::uintptr_t remapped(std::uintptr_t from, std::size_t bytes, std::uintptr_t to) noexcept {
  const long got = syscall(SYS_mremap, from, bytes, forks.bytes(),
                           MREMAP_MAYMOVE | (to != 0 ? MREMAP_FIXED : 0), to);
  if (got == -1)
    die_of("put in their place");
  return static_cast<std::uintptr_t>(got);
}
void move_to_region(std::uintptr_t from) noexcept {
  remapped(from, forks.bytes(), forks.memory.region_at());
}

// From the page of this address on.
void copy_region(std::uintptr_t from) noexcept {
  void* const made = mmap(nullptr, forks.bytes(), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    die_of("had");
  forks.copies = reinterpret_cast<std::uintptr_t>(made);
  const std::uintptr_t region = forks.memory.region_at();
  from -= from % base::page_size();
  copy_frames(from, forks.memory.region_end(), forks.copies + (from - region));
}

// The lowest page with memory, as far as the system tells. Where the caller runs on another stack,
// it is not known how deep the region is in use.
std::uintptr_t lowest_in_use() noexcept {
  std::uintptr_t page = forks.memory.region_at();
  while (page != forks.memory.region_end() && base::which_resident(page, 1) == 0)
    page += base::page_size();
  return page;
}

bool is_on_region(std::uintptr_t stack_pointer) noexcept {
  return stack_pointer - forks.memory.region_at() < forks.bytes();
}
bool is_amid_a_run() noexcept { return forks.in_child != nullptr && !forks.is_child && forks.runs; }

// Of a caller of call_elsewhere, with what has been pushed since.
std::uintptr_t stack_in_use() noexcept {
  constexpr std::uintptr_t pushed = 1024;
  if (forks.memory.regions != 1)
    return lowest_in_use(); // frames of one strand lie on several regions
  const std::uintptr_t at = forks.caller / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  return std::max(at - pushed, forks.memory.region_at());
}

// For the thread that runs on the region: while that changes its memory, nothing is pushed on it.
alignas(64) unsigned char other_stack[std::size_t{256} << 10];
bool is_on_other_stack(std::uintptr_t stack_pointer) noexcept {
  return stack_pointer - reinterpret_cast<std::uintptr_t>(other_stack) < sizeof other_stack;
}
void call_elsewhere(void (*f)(void*), void* argument) noexcept {
  forks.caller = arch::stack_pointer();
  arch::nopal_arch_call_on(f, argument, reinterpret_cast<std::uintptr_t>(std::end(other_stack)));
}

NOPAL_SWITCHES void make_region_private(void*) noexcept {
  forks.alias = remapped(forks.memory.region_at(), 0, 0); // of 0 bytes: a second mapping
  copy_region(stack_in_use());
  move_to_region(std::exchange(forks.copies, 0));
}

// Only the running task's frames have changed: the tasks above wait for a child that runs.
NOPAL_SWITCHES void share_region(void*) noexcept {
  const std::uintptr_t from = stack_in_use();
  copy_frames(from, this_worker.region + this_worker.upper,
              forks.alias + (from - forks.memory.region_at()));
  move_to_region(std::exchange(forks.alias, 0));
}

bool runs_on_region() noexcept {
  const changing none;
  return is_amid_a_run() && is_on_region(arch::stack_pointer());
}
void fork_here(void* to) noexcept {
  const bool has_sanitizer = &__interceptor_fork != nullptr;
  *static_cast<pid_t*>(to) = has_sanitizer ? __interceptor_fork() : __fork();
}

// The three handlers. The mutex is held from the first to one of the others.
void before_fork() {
  const sigset_t mask = lock();
  forks.mask = mask;
  if (!is_amid_a_run())
    return;
  const std::uintptr_t here = arch::stack_pointer();
  if (is_on_region(here))
    call_elsewhere(make_region_private, nullptr);
  else
    copy_region(is_on_other_stack(here) ? stack_in_use() : lowest_in_use());
}

void in_parent() {
  if (forks.alias != 0)
    call_elsewhere(share_region, nullptr);
  if (forks.copies != 0)
    munmap(reinterpret_cast<void*>(std::exchange(forks.copies, 0)), forks.bytes());
  unlock(sigset_t{forks.mask});
}

void in_child() {
  forks.alias = 0; // the system has not given it to the child
  if (forks.copies != 0)
    move_to_region(std::exchange(forks.copies, 0));
  if (forks.in_child != nullptr && !forks.is_child) {
    forks.is_child = true;
    void* const queue = reinterpret_cast<void*>(block_at);
    if (mmap(queue, layout::pages(sizeof(control_block)), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != queue)
      die_of("made");
    forks.in_child();
  }
  unlock(sigset_t{forks.mask});
}

} // namespace

void prepare_forks(const layout& memory, void (*in_child_of_session)()) {
  static const int registered = pthread_atfork(before_fork, in_parent, in_child);
  if (registered != 0)
    base::die("no handler of forks could be registered: %s", std::strerror(registered));
  const changing now;
  forks = {memory, in_child_of_session};
}

void leave_forks_alone() noexcept {
  const changing now;
  forks = {};
}

void note_run(bool under_way) noexcept {
  const changing now;
  forks.runs = under_way;
}

void refuse_in_child() noexcept {
  if (forks.is_child)
    base::die("%s", came_to_a_spawn);
}

} // namespace nopal::inline NOPAL_ABI::process

// In the place of the C library's, which calls the handlers. What a task calls runs on another
// stack meanwhile, so its process keeps the region as it is.
extern "C" [[gnu::weak, gnu::visibility("default")]] pid_t fork() noexcept {
  using namespace nopal::process;
  pid_t result = 0;
  if (runs_on_region())
    call_elsewhere(fork_here, &result);
  else
    fork_here(&result);
  return result;
}
