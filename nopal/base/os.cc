// SPDX-License-Identifier: MIT
//
// Linux behind os.h.
#include "nopal/base/os.h"

#include "nopal/base/sanitizer.h"

#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>

// Weak, so that a statically linked program does not take the dynamic linker along.
extern "C" [[gnu::weak]] decltype(dlopen) dlopen;
extern "C" [[gnu::weak]] decltype(dladdr1) dladdr1;
extern "C" [[gnu::weak]] decltype(dlerror) dlerror;

namespace nopal::base {

namespace {

// The number that this file of the kernel begins with; 0 where there is none.
std::size_t number_in(const char* path) noexcept {
  std::size_t number = 0;
  if (FILE* const file = std::fopen(path, "re")) {
    if (std::fscanf(file, "%zu", &number) != 1)
      number = 0;
    std::fclose(file);
  }
  return number;
}

} // namespace

std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void* reserve(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t span = bytes + alignment;
  void* raw = mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED)
    return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (start + alignment - 1) & ~(alignment - 1);
  if (aligned > start)
    munmap(raw, aligned - start);
  const std::uintptr_t rest = start + span - (aligned + bytes);
  if (rest > 0)
    munmap(reinterpret_cast<void*>(aligned + bytes), rest);
  void* region = reinterpret_cast<void*>(aligned);
  madvise(region, bytes, MADV_NOHUGEPAGE); // a huge page would make a shallow stack cost 2 MiB
  madvise(region, bytes, MADV_DONTDUMP);   // some write all of it into a core file, as zeroes
  return region;
}

std::size_t address_space_left() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::size_t>::max();
  const std::size_t used = number_in("/proc/self/statm") * page_size();
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

bool commit(void* at, std::size_t bytes) noexcept {
  madvise(at, bytes, MADV_DODUMP);
  return mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0;
}

std::size_t max_mappings() noexcept {
  const std::size_t most = number_in("/proc/sys/vm/max_map_count");
  return most != 0 ? most : 65530;
}

void* map_zeroed(std::size_t bytes) noexcept {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

void discard(void* at, std::size_t bytes) noexcept {
  constexpr int kDontNeedLocked = 24; // MADV_DONTNEED_LOCKED, Linux 5.18; older headers lack it
  if (madvise(at, bytes, MADV_DONTNEED) != 0)
    madvise(at, bytes, kDontNeedLocked);
}

std::size_t resident_pages(void* at, std::size_t bytes) noexcept {
  unsigned char resident[256];
  const std::size_t page = page_size();
  std::size_t count = 0;
  auto* from = static_cast<std::byte*>(at);
  for (std::size_t done = 0; done < bytes; done += sizeof resident * page) {
    const std::size_t part = std::min(bytes - done, sizeof resident * page);
    if (mincore(from + done, part, resident) != 0)
      continue;
    count += static_cast<std::size_t>(std::count_if(
        resident, resident + part / page, [](unsigned char state) { return (state & 1) != 0; }));
  }
  return count;
}

std::uint64_t which_resident(std::uintptr_t at, std::size_t pages) noexcept {
  unsigned char resident[64];
  if (mincore(reinterpret_cast<void*>(at), pages * page_size(), resident) != 0)
    return ~std::uint64_t{0};
  std::uint64_t which = 0;
  for (std::size_t i = 0; i < pages; ++i)
    which |= std::uint64_t{resident[i] & 1u} << i;
  return which;
}

void futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake_one(atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void yield_cpu() noexcept { sched_yield(); }

void sleep_us(unsigned microseconds) noexcept {
  const timespec time{microseconds / 1000000, static_cast<long>(microseconds % 1000000) * 1000};
  nanosleep(&time, nullptr);
}

const char* pin_this_library() noexcept {
  Dl_info ignored;
  void* map = nullptr;
  // A program that is linked statically has none of these functions, and no libraries.
  if (&dladdr1 == nullptr || &dlopen == nullptr ||
      dladdr1(reinterpret_cast<void*>(pin_this_library), &ignored, &map, RTLD_DL_LINKMAP) == 0)
    return nullptr;
  const char* const name = static_cast<const link_map*>(map)->l_name;
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

void wait_briefly(unsigned n) noexcept {
  if (n % 64 == 0)
    yield_cpu();
  else
    spin_pause();
}

[[gnu::noinline]] const int* this_threads_error() noexcept { return &errno; }
[[gnu::noinline]] void set_error(int value) noexcept { errno = value; }
NOPAL_READS_FRAMES int read_error(const int* place) noexcept {
  return *static_cast<const volatile int*>(place);
}

} // namespace nopal::base
