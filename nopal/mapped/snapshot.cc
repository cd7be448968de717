// SPDX-License-Identifier: MIT
// The copy is a new file, which takes the old one's place in each mapping. The old one's holes stay
// holes. The caller of fork() holds the locks of all lists meanwhile.
#include "nopal/mapped/calls.h"

#include "nopal/base/atomic.h"
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/mapped/members.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/places.h"
#include "nopal/mapped/sharing.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

constinit base::atomic<std::uint32_t> copying{0};

// From file to file: a part of the memory may have no rights at its own address, or not be there.
bool copy_data(int to) noexcept {
  const long end = static_cast<long>(layout::arena_bytes);
  for (long data = 0; data < end;) {
    data = raw(SYS_lseek, memory_file, data, SEEK_DATA);
    if (data < 0)
      return true; // no more data
    const long hole = raw(SYS_lseek, memory_file, data, SEEK_HOLE);
    for (long behind = data; data < hole;)
      if (raw(SYS_copy_file_range, memory_file, &data, to, &behind, hole - data, 0) <= 0)
        return false;
  }
  return true;
}

void replace_mappings(int fresh) noexcept {
  open_mappings all;
  for (mapping each{}; all.next(each);)
    if (each.shared && each.name.starts_with(memory_name_there))
      raw(SYS_mmap, each.from, each.to - each.from, each.access,
          MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fresh, each.offset);
}

} // namespace

void begin_snapshot() noexcept { copying.store(1, base::relaxed); }

void wait_for_snapshot() noexcept {
  while (copying.load(base::acquire) != 0)
    raw(SYS_futex, &copying, FUTEX_WAIT, 1, nullptr);
}

void take_snapshot() noexcept {
  const int fresh = new_memory_file(memory_name);
  const bool copied =
      fresh >= 0 && raw(SYS_ftruncate, fresh, layout::arena_bytes) == 0 && copy_data(fresh);
  copying.store(0, base::release); // in what is shared still
  raw(SYS_futex, &copying, FUTEX_WAKE, 1);
  if (!copied)
    base::die("fork: the copy of the program's memory could not be made");
  replace_mappings(fresh);
  copying.store(0, base::relaxed);
  raw(SYS_dup3, fresh, memory_file, O_CLOEXEC); // whose number the filter protects
  raw(SYS_close, fresh);
  own_state& self = own();
  const std::uint64_t applied = self.self->applied.load(base::relaxed);
  for (unsigned i = 0; i < members_used.load(base::relaxed); ++i)
    members[i].pid.store(0, base::relaxed), members[i].applying.store(false, base::relaxed);
  members_used.store(1, base::relaxed);
  self.pid = static_cast<int>(raw(SYS_getpid));
  self.is_first = true;
  self.self = &members[0];
  self.partner = nullptr;
  members[0].applied.store(applied, base::relaxed);
  members[0].applying.store(true, base::relaxed); // as the log is held
  members[0].attended.store(attendance::begins, base::relaxed);
  self.has_attendant.store(false, base::relaxed);
  members[0].pid.store(self.pid, base::release);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
