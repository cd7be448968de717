// SPDX-License-Identifier: MIT
// The arena is mapped as a whole, once: growth then needs no system call in any process.
#include "nopal/mapped/memory.h"

#include "nopal/arch/mapped.h"
#include "nopal/base/die.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

using arch::raw;

constexpr int kKeptDescriptors = 384; // the memory file, and what the log keeps

struct reserved {
  std::uintptr_t at;
  std::size_t bytes;
  int access;
};
constexpr reserved kReserved[] = {
    {layout::own, layout::own_bytes, PROT_READ | PROT_WRITE},
    {layout::view_end - layout::view_room, layout::view_room, PROT_NONE},
};

// MAP_FIXED_NOREPLACE is taken for a hint by kernels older than Linux 4.17.
bool map_exactly(std::uintptr_t at, std::size_t bytes, int access, int flags, int file) noexcept {
  const long got =
      raw(SYS_mmap, at, bytes, access, flags | MAP_FIXED_NOREPLACE | MAP_NORESERVE, file, 0);
  if (got == static_cast<long>(at))
    return true;
  if (got > 0)
    raw(SYS_munmap, got, bytes);
  errno = got > 0 ? EEXIST : static_cast<int>(-got);
  return false;
}

int descriptors_from() noexcept {
  rlimit limit{};
  raw(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit);
  const rlim_t most = std::min<rlim_t>(limit.rlim_cur, 4096); // the kernel's table grows with it
  return static_cast<int>(most > 2 * kKeptDescriptors ? most - kKeptDescriptors : most / 2);
}

} // namespace

int new_memory_file(const char* name) noexcept {
  const long made = raw(SYS_memfd_create, name, MFD_CLOEXEC);
  if (made < 0)
    return static_cast<int>(made);
  const long high = raw(SYS_fcntl, made, F_DUPFD_CLOEXEC, first_descriptor);
  raw(SYS_close, made);
  return static_cast<int>(high);
}

const char* open_memory() noexcept {
  rlimit limit{};
  raw(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit);
  errno = EFBIG;
  if (limit.rlim_cur < layout::arena_bytes)
    return "a file of 8 TiB without a name (ulimit -f)";
  first_descriptor = descriptors_from();
  memory_file = new_memory_file(memory_name);
  errno = std::max(0, -memory_file);
  if (memory_file < 0)
    return "a file without a name (memfd_create)";
  const long sized = raw(SYS_ftruncate, memory_file, layout::arena_bytes);
  errno = static_cast<int>(-sized);
  bool fits = sized == 0 && map_exactly(layout::arena, layout::arena_bytes, PROT_READ | PROT_WRITE,
                                        MAP_SHARED, memory_file);
  for (const reserved& each : kReserved)
    fits = fits && map_exactly(each.at, each.bytes, each.access, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (!fits)
    return "8 TiB of addresses (ulimit -v)";
  raw(SYS_madvise, layout::arena + layout::dumped_bytes, layout::arena_bytes - layout::dumped_bytes,
      MADV_DONTDUMP);
  arena.open(layout::arena + page, layout::arena_bytes - page); // address 0 of it is no address
  holes.open(layout::arena, layout::arena_bytes);
  holes.claim(layout::arena, layout::arena_bytes);
  private_files.open(layout::private_files, layout::files_bytes);
  shared_files.open(layout::shared_files, layout::files_bytes);
  return nullptr;
}

void close_memory() noexcept {
  raw(SYS_munmap, layout::arena, layout::arena_bytes);
  for (const reserved& each : kReserved)
    raw(SYS_munmap, each.at, each.bytes);
  raw(SYS_close, memory_file);
}

std::uintptr_t take_memory(std::size_t bytes) noexcept {
  const std::uintptr_t at = arena.take(bytes);
  if (at == 0)
    base::die("the program has mapped 8 TiB of memory, all that its processes can share");
  return at;
}

// Not madvise(MADV_REMOVE), which refuses locked memory.
void drop_pages(std::uintptr_t at, std::size_t bytes) noexcept {
  raw(SYS_fallocate, memory_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_of(at),
      up(bytes));
}

void give_memory(std::uintptr_t at, std::size_t bytes) noexcept {
  drop_pages(at, bytes);
  arena.give(at, bytes);
}

long map_part(std::uintptr_t part, std::uintptr_t at, std::size_t bytes, int access,
              int more_flags) noexcept {
  return raw(SYS_mmap, at, bytes, access, MAP_SHARED | MAP_FIXED | more_flags, memory_file,
             offset_of(part));
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
