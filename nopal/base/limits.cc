// SPDX-License-Identifier: MIT
// Limits as the kernel tells them: getrlimit, /proc/self and /proc/sys/vm.
#include "nopal/base/limits.h"

#include "nopal/base/os.h"
#include "nopal/base/shared.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {
namespace {

// The number in the first line of a kernel's file that has this format; `otherwise` without one.
std::size_t number_in(const char* path, const char* line_format, std::size_t otherwise) noexcept {
  std::size_t number = otherwise;
  if (FILE* const file = std::fopen(path, "re")) {
    char line[256];
    while (std::fgets(line, sizeof line, file) != nullptr)
      if (std::sscanf(line, line_format, &number) == 1)
        break;
    std::fclose(file);
  }
  return number;
}

std::size_t limit_on(__rlimit_resource what) noexcept {
  rlimit limit{};
  const bool limited = getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? limit.rlim_cur : SIZE_MAX;
}

constexpr char kStatus[] = "/proc/self/status";

// `used` is the format of the line that says how much is used. Without a limit it is not read.
std::size_t left_of(__rlimit_resource what, const char* used) noexcept {
  const std::size_t limit = limit_on(what);
  return limit == SIZE_MAX ? limit
                           : limit - std::min(limit, number_in(kStatus, used, 0) << 10); // KiB
}
std::size_t addresses_left() noexcept { return left_of(RLIMIT_AS, "VmSize: %zu"); }
std::size_t data_left() noexcept { return left_of(RLIMIT_DATA, "VmData: %zu"); }

// Reserves addresses while it lives: whether the kernel allows that shows a limit.
struct probe {
  explicit probe(std::size_t bytes) noexcept
      : size{bytes},
        at{mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)} {}
  ~probe() {
    if (mapped())
      munmap(at, size);
  }
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;
  bool mapped() const noexcept { return at != MAP_FAILED; }

  const std::size_t size;
  void* const at;
};

// How many bytes may still be mapped if the kernel locks each new mapping (mlockall); SIZE_MAX if
// it does not, or if the process has CAP_IPC_LOCK and so no limit. Only attempts show either.
std::size_t lockable_left() noexcept {
  const std::size_t limit = limit_on(RLIMIT_MEMLOCK);
  if (limit == SIZE_MAX)
    return limit;
  const probe page{page_size()};
  const bool refused = !page.mapped() && errno == EAGAIN;
  if (!refused && (!page.mapped() || !is_locked(page.at)))
    return SIZE_MAX;
  if (probe{limit + page_size()}.mapped())
    return SIZE_MAX;
  return left_of(RLIMIT_MEMLOCK, "VmLck: %zu");
}

bool overcommits_nothing() noexcept {
  return number_in("/proc/sys/vm/overcommit_memory", "%zu", 0) == 2;
}

std::size_t mappings() noexcept {
  std::size_t count = 0;
  if (FILE* const file = std::fopen("/proc/self/maps", "re")) {
    for (int c; (c = std::fgetc(file)) != EOF;)
      count += c == '\n';
    std::fclose(file);
  }
  return count;
}

constexpr std::size_t kFewMappings = 8; // to change a mapping may take several more for a moment

[[gnu::format(printf, 1, 2)]] reason why(const char* format, ...) noexcept {
  reason made{};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(made.text, sizeof made.text, format, arguments);
  va_end(arguments);
  return made;
}

} // namespace

std::size_t address_space_left() noexcept { return std::min(addresses_left(), lockable_left()); }

const char* what_limits_addresses() noexcept {
  const std::size_t lockable = lockable_left();
  const std::size_t addresses = addresses_left();
  return std::min(lockable, addresses) == SIZE_MAX ? nullptr
         : addresses <= lockable
             ? "the limit on virtual memory (ulimit -v)"
             : "the limit on locked memory (ulimit -l), as mlockall(MCL_FUTURE) is in force,";
}

bool writable_memory_is_limited() noexcept {
  return limit_on(RLIMIT_DATA) != SIZE_MAX || overcommits_nothing();
}

std::size_t max_mappings() noexcept {
  return number_in("/proc/sys/vm/max_map_count", "%zu", 65530);
}

// Not too few, whatever threads begin or become processes meanwhile: the first process, where a
// thread stands for each other one, is read last, when that thread is there. A process that cannot
// be read has just ended, and that thread may have, too: then no number is known.
std::size_t threads_now() noexcept {
  static constexpr char kThreads[] = "Threads: %zu";
  if (shared == nullptr)
    return number_in(kStatus, kThreads, 0);
  struct {
    std::size_t threads = 0;
    std::size_t processes = 0;
    bool known = true;
  } all;
  const auto add = [](int pid, std::size_t ours, void* to) {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/status", pid);
    const std::size_t threads = number_in(path, kThreads, 0);
    auto& sum = *static_cast<decltype(all)*>(to);
    sum.known = sum.known && threads != 0;
    sum.threads += threads - std::min(ours, threads);
    sum.processes += 1;
  };
  shared->for_each_process(add, &all);
  return all.known ? all.threads - (all.processes - 1) : SIZE_MAX;
}

bool handles_signals() noexcept {
  std::size_t others = number_in(kStatus, "SigCgt: %zx", SIZE_MAX);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    others &= ~(std::size_t{1} << (signal - 1));
  if (shared != nullptr)
    others &= ~(std::size_t{1} << (shared->notice_signal - 1));
  for (int signal = __SIGRTMIN; signal < SIGRTMIN; ++signal) // the C library's own
    others &= ~(std::size_t{1} << (signal - 1));
  return others != 0;
}

// The kernel refuses to discard a locked page (EINVAL), also one that has no memory yet.
bool is_locked(void* at) noexcept {
  const int before = errno;
  const bool locked = madvise(at, page_size(), MADV_DONTNEED) != 0 && errno == EINVAL;
  errno = before;
  return locked;
}

reason why_refused(std::size_t bytes) noexcept {
  const int error = errno;
  const std::size_t lockable = lockable_left();
  if (error == EAGAIN || bytes > lockable)
    return why("the limit on locked memory (ulimit -l) is %zu KiB, and mlockall(MCL_FUTURE) locks "
               "all memory; raise it, or unlock future memory (munlockall) before",
               limit_on(RLIMIT_MEMLOCK) >> 10);
  if (bytes > addresses_left())
    return why("the limit on virtual memory is %zu KiB; raise it (ulimit -v)",
               limit_on(RLIMIT_AS) >> 10);
  if (bytes > data_left())
    return why("the limit on data is %zu KiB; raise it (ulimit -d)", limit_on(RLIMIT_DATA) >> 10);
  if (mappings() + kFewMappings >= max_mappings())
    return why("the process has as many mappings as vm.max_map_count allows, %zu; raise that",
               max_mappings());
  if (overcommits_nothing())
    return why("the system has promised as much memory as it may: vm.overcommit_memory is 2");
  return why("%s", std::strerror(error));
}

reason why_no_thread(int error, std::size_t stack_bytes) noexcept {
  {
    const probe stack{stack_bytes};
    if (!stack.mapped() || stack_bytes > data_left())
      return why_refused(stack_bytes);
  }
  if (error == EAGAIN)
    return why("%s: the limit on processes (ulimit -u) or that of the control group (pids.max) "
               "allows no more threads",
               std::strerror(error));
  return why("%s", std::strerror(error));
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
