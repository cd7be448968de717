// SPDX-License-Identifier: MIT
// Linux behind os.h, and the functions of atomic.h that are not inline.
#include "nopal/base/os.h"

#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/base/shared.h"

#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

// Weak, so that a statically linked program does not take the dynamic linker along.
extern "C" [[gnu::weak]] decltype(dlopen) dlopen;
extern "C" [[gnu::weak]] decltype(dladdr1) dladdr1;
extern "C" [[gnu::weak]] decltype(dlerror) dlerror;

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {
namespace {

atomic<bool> enabled{false}; // the heavy barrier

long membarrier(int command) noexcept { return syscall(__NR_membarrier, command, 0, 0); }

// Where threads are processes, the private commands reach and wake nobody else.
int barrier_command(int of_threads, int of_processes) noexcept {
  return shared == nullptr ? of_threads : of_processes;
}
long futex(atomic<std::uint32_t>& word, int command, std::uint32_t value,
           const timespec* until = nullptr) noexcept {
  const int reach = shared == nullptr ? FUTEX_PRIVATE_FLAG : 0;
  return syscall(SYS_futex, &word, command | reach, value, until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

// Null when the kernel refuses.
void* map(std::size_t bytes, int access) noexcept {
  void* at = mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

} // namespace

bool enable_heavy_barrier() noexcept {
  const bool there = membarrier(barrier_command(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
                                                MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)) == 0;
  if (there)
    enabled.store(true, relaxed);
  return there;
}

void heavy_barrier() noexcept {
  full_fence();
  if (!enabled.load(relaxed))
    return; // then all other threads execute fences themselves, or take locks
  NOPAL_ASSERT(membarrier(barrier_command(MEMBARRIER_CMD_PRIVATE_EXPEDITED,
                                          MEMBARRIER_CMD_GLOBAL_EXPEDITED)) == 0,
               "membarrier(2) worked when the runtime started and fails now (%s); allow it in the "
               "sandbox, or forbid it before the first fork: then Nopal does without",
               std::strerror(errno));
  full_fence();
}

void* reserve(std::size_t bytes, std::size_t alignment) noexcept {
  void* const raw = map(bytes + alignment, PROT_NONE);
  if (raw == nullptr)
    return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (start + alignment - 1) & ~(alignment - 1);
  void* const region = reinterpret_cast<void*>(aligned);
  munmap(raw, aligned - start); // if there is nothing before the region, this does nothing
  munmap(reinterpret_cast<void*>(aligned + bytes), start + alignment - aligned);
  madvise(region, bytes, MADV_NOHUGEPAGE); // a huge page would make a shallow stack cost 2 MiB
  madvise(region, bytes, MADV_DONTDUMP);   // some kernels write all of it into a core file
  return region;
}

void unreserve(void* at, std::size_t bytes) noexcept { munmap(at, bytes); }

bool commit(void* at, std::size_t bytes) noexcept {
  if (shared != nullptr)
    return true; // shared memory is always usable
  madvise(at, bytes, MADV_DODUMP);
  return mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0;
}

bool forbid(void* at, std::size_t bytes) noexcept { return mprotect(at, bytes, PROT_NONE) == 0; }

#if !defined(MADV_GUARD_INSTALL) // in the headers of newer C libraries
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

bool install_guard(void* at, std::size_t bytes) noexcept {
  if (shared != nullptr)
    return shared->install_guard(reinterpret_cast<std::uintptr_t>(at), bytes);
  return madvise(at, bytes, MADV_GUARD_INSTALL) == 0;
}

bool has_guard_regions() noexcept {
  void* const probe = map(page_size(), PROT_READ | PROT_WRITE);
  if (probe != nullptr)
    munlock(probe, page_size()); // in case that all memory is locked
  const bool there = probe != nullptr && install_guard(probe, page_size());
  if (there)
    madvise(probe, page_size(), MADV_GUARD_REMOVE); // shared memory may come back
  if (probe != nullptr)
    munmap(probe, page_size());
  return there;
}

void* map_zeroed(std::size_t bytes) noexcept { return map(bytes, PROT_READ | PROT_WRITE); }

void ask_for_huge_pages(void* at, std::size_t bytes) noexcept { madvise(at, bytes, MADV_HUGEPAGE); }

bool discard(void* at, std::size_t bytes) noexcept {
  constexpr int kDontNeedLocked = 24; // MADV_DONTNEED_LOCKED, Linux 5.18; older headers lack it
  if (shared != nullptr && madvise(at, bytes, MADV_REMOVE) == 0)
    return true; // MADV_DONTNEED would keep the pages, which other processes have mapped too
  return madvise(at, bytes, MADV_DONTNEED) == 0 || madvise(at, bytes, kDontNeedLocked) == 0;
}

std::size_t resident_pages(void* at, std::size_t bytes) noexcept {
  unsigned char states[256];
  constexpr std::size_t most = sizeof states * page_size();
  std::size_t count = 0;
  for (std::size_t done = 0; done < bytes; done += most) {
    const std::size_t part = std::min(bytes - done, most);
    const bool known = mincore(static_cast<std::byte*>(at) + done, part, states) == 0;
    for (std::size_t page = 0; page < part / page_size(); ++page)
      count += known ? states[page] & 1u : 1u;
  }
  return count;
}

std::uint64_t which_resident(std::uintptr_t at, std::size_t pages) noexcept {
  unsigned char states[64];
  if (mincore(reinterpret_cast<void*>(at), pages * page_size(), states) != 0)
    return ~std::uint64_t{0};
  std::uint64_t which = 0;
  for (std::size_t i = 0; i < pages; ++i)
    which |= std::uint64_t{states[i] & 1u} << i;
  return which;
}

void futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  futex(word, FUTEX_WAIT, expected);
}

void futex_wait_until(atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::int64_t until_ns) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  until_ns = std::max(until_ns, std::int64_t{0}); // the kernel refuses negative times
  const timespec until{until_ns / second, until_ns % second};
  futex(word, FUTEX_WAIT_BITSET, expected, &until);
}

void futex_wake_one(atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, 1); }

void sleep_us(unsigned microseconds) noexcept { usleep(microseconds); }

void ask_for_short_turns() noexcept {
  struct { // sched_attr of the kernel, whose header the C library's does not go with
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } wanted{};
  wanted.size = sizeof wanted;
  wanted.policy = SCHED_OTHER;
  wanted.runtime = 100'000; // nanoseconds, the least that is accepted
  syscall(SYS_sched_setattr, 0, &wanted, 0);
}

const char* pin_this_library() noexcept {
  Dl_info ignored;
  void* loaded = nullptr;
  // A program that is linked statically has none of these functions, and no libraries.
  if (&dladdr1 == nullptr || &dlopen == nullptr ||
      dladdr1(reinterpret_cast<void*>(pin_this_library), &ignored, &loaded, RTLD_DL_LINKMAP) == 0)
    return nullptr;
  const char* const name = static_cast<const link_map*>(loaded)->l_name;
  if (*name == '\0' || dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr)
    return nullptr;
  return dlerror();
}

std::uintptr_t lowest_of_own_stack() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return 0;
  void* low = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(low);
}

void give_way() noexcept { sched_yield(); }

void wait_briefly(unsigned n) noexcept {
  if (n % 64 == 0)
    sched_yield();
  else
    __builtin_ia32_pause();
}

[[gnu::noinline]] int* this_threads_error() noexcept { return &errno; }
[[gnu::noinline]] void set_error(int value) noexcept { errno = value; }

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
