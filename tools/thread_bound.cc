// SPDX-License-Identifier: MIT
// A diagnosis that check builds link in (nopal/vproc/thread_bound.h). It walks the callers of a
// strand, and it replaces the C library's lock functions, to count the mutexes that a thread holds.
#include "nopal/vproc/thread_bound.h"

#include "nopal/arch/arch.h"
#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/vproc/group.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unwind.h>

#include <cerrno>
#include <cstring>
#include <string_view>

// ThreadSanitizer and AddressSanitizer replace these functions themselves.
#if !defined(NOPAL_TSAN) && !defined(__SANITIZE_ADDRESS__)
#define NOPAL_COUNTS_MUTEXES 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef NOPAL_COUNTS_MUTEXES
#endif
#endif

namespace nopal::inline NOPAL_ABI::vproc {

namespace {

thread_local int held __attribute__((tls_model("initial-exec"))) = 0;

// A function whose frame must return on its own thread.
struct bound_function {
  const char* function; // its whole name; null: any function
  const char* file;     // a part of the last component of the file's path
  const char* name;     // in the message
};
constexpr bound_function bound_functions[] = {
    {"dl_iterate_phdr", "libc.so", "dl_iterate_phdr, which holds a lock of the dynamic linker's"},
    {nullptr, "python3", "the Python interpreter"},
    {nullptr, "libpython", "the Python interpreter"},
};

const bound_function* found_bound(const void* address) noexcept {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr)
    return nullptr;
  const char* const slash = std::strrchr(info.dli_fname, '/');
  const std::string_view file = slash == nullptr ? info.dli_fname : slash + 1;
  for (const bound_function& each : bound_functions)
    if (file.find(each.file) != file.npos &&
        (each.function == nullptr ||
         (info.dli_sname != nullptr && std::strcmp(info.dli_sname, each.function) == 0)))
      return &each;
  return nullptr;
}

// The walk looks for a handler in so many frames above the fork. A deep recursion may fork at each
// level, and walks to its end would take quadratic time.
constexpr unsigned kFrames = 64;
constexpr char kInHandler[] = "a signal handler forks: the frames that it interrupted cannot go on "
                              "on another thread; do not fork in signal handlers";

struct walk {
  std::uintptr_t end; // the frame of the group's root scope: its own thread returns to it
  const bound_function* found = nullptr;
  bool handler = false;
};

bool is_signal_frame(_Unwind_Context* frame) noexcept {
  int interrupted = 0;
  _Unwind_GetIPInfo(frame, &interrupted);
  return interrupted != 0;
}

_Unwind_Reason_Code look(_Unwind_Context* frame, void* argument) {
  auto* const path = static_cast<walk*>(argument);
  path->handler = path->handler || is_signal_frame(frame);
  const std::uintptr_t stack_pointer = _Unwind_GetCFA(frame);
  const auto address = reinterpret_cast<void*>(_Unwind_GetIP(frame) - 1);
  if ((stack_pointer > path->end && stack::together(stack_pointer, path->end)) ||
      _Unwind_FindEnclosingFunction(address) == reinterpret_cast<void*>(arch::nopal_arch_call_on))
    return _URC_END_OF_STACK;
  path->found = found_bound(address);
  return path->found == nullptr ? _URC_NO_REASON : _URC_END_OF_STACK;
}

} // namespace

void check_callers(const worker* self) noexcept {
  walk path{self->group->frame};
  _Unwind_Backtrace(look, &path);
  NOPAL_ASSERT(!path.handler, kInHandler);
  NOPAL_ASSERT(path.found == nullptr,
               "a function that forks was called by %s: its frame belongs to the thread, but would "
               "be left on another; call the function through nopal::affine",
               path.found->name);
}

void check_no_handler() noexcept {
  struct seen {
    bool handler = false;
    unsigned frames = 0;
  } seen_frames;
  _Unwind_Backtrace(
      [](_Unwind_Context* frame, void* argument) {
        auto* const so_far = static_cast<seen*>(argument);
        so_far->handler = so_far->handler || is_signal_frame(frame);
        return ++so_far->frames < kFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
      },
      &seen_frames);
  NOPAL_ASSERT(!seen_frames.handler, kInHandler);
}

void check_mutexes(const vproc* host) noexcept {
  const int before = host->bound == nullptr ? 0 : host->bound->mutexes_held;
  NOPAL_ASSERT(held == before,
               "a strand waits, or a thief has its continuation, while its thread holds "
               "%d mutexes that it has locked: they belong to the thread. Unlock them before, use "
               "nopal::mutex, or call the function that forks through nopal::affine",
               held - before);
}

int mutexes_held() noexcept { return held; }

} // namespace nopal::inline NOPAL_ABI::vproc

#if defined(NOPAL_COUNTS_MUTEXES)

// Exported, so that calls from the libraries that the program uses are counted as well.
#pragma GCC visibility push(default)
namespace {

template <class Function>
Function* next(nopal::base::atomic<Function*>& known, const char* name) noexcept {
  if (Function* const already = known.load(nopal::base::relaxed))
    return already;
  auto* const found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  known.store(found, nopal::base::relaxed);
  return found;
}

[[gnu::noinline]] int counted(int error, int change) noexcept {
  if (error == 0 || error == EOWNERDEAD) // EOWNERDEAD: a robust mutex is locked then as well
    nopal::vproc::held += change;
  return error;
}

} // namespace

#define NOPAL_COUNTED(change, name, parameters, arguments)                                         \
  extern "C" int name parameters noexcept {                                                        \
    static constinit nopal::base::atomic<int(*) parameters> known{nullptr};                        \
    return counted(next(known, #name) arguments, change);                                          \
  }
NOPAL_COUNTED(1, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
NOPAL_COUNTED(1, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
NOPAL_COUNTED(1, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until),
              (mutex, until))
NOPAL_COUNTED(1, pthread_mutex_clocklock,
              (pthread_mutex_t * mutex, clockid_t clock, const timespec* until),
              (mutex, clock, until))
NOPAL_COUNTED(-1, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
NOPAL_COUNTED(1, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
NOPAL_COUNTED(1, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
NOPAL_COUNTED(1, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
NOPAL_COUNTED(1, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
NOPAL_COUNTED(1, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec* until),
              (lock, until))
NOPAL_COUNTED(1, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* until),
              (lock, until))
NOPAL_COUNTED(1, pthread_rwlock_clockrdlock,
              (pthread_rwlock_t * lock, clockid_t clock, const timespec* until),
              (lock, clock, until))
NOPAL_COUNTED(1, pthread_rwlock_clockwrlock,
              (pthread_rwlock_t * lock, clockid_t clock, const timespec* until),
              (lock, clock, until))
NOPAL_COUNTED(-1, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))

#pragma GCC visibility pop
#endif
