// SPDX-License-Identifier: MIT
// How copies meet, and the descriptor of this copy.
//
// Orders:
//   O  open: store seq_cst, then the loads of the others' `open`, seq_cst. Of two copies that start
//      at a time, at least one sees the other.
//   N  number_of_others: store release, after the entry of `others`. Partner: the acquire loads,
//      which see the entries that they count.
#include "nopal/sched/copies.h"

#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/overflow.h"

#include <link.h>

#include <cstddef>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace nopal::inline NOPAL_ABI::sched {

// The note that x86_64_note.S writes. The last two words are a distance from their own place.
struct note {
  std::uint32_t sizes_and_type[3];
  char name[8];
  std::uint32_t to_descriptor[2];
};
extern "C" const note nopal_note;
static_assert(offsetof(note, name) == 12 && offsetof(note, to_descriptor) == 20);

namespace {

constexpr std::uint32_t kMostOthers = 255;

copy* others[kMostOthers];
base::atomic<std::uint32_t> number_of_others{0};
std::mutex lock; // held to write these

void meet(copy* other) noexcept {
  const std::scoped_lock guard{lock};
  const std::uint32_t number = number_of_others.load(base::relaxed);
  for (std::uint32_t i = 0; i < number; ++i)
    if (others[i] == other)
      return;
  NOPAL_ASSERT(number < kMostOthers,
               "more than %u copies of Nopal in one process; link "
               "the libraries with libnopal.so, of which there is one",
               kMostOthers);
  others[number] = other;
  number_of_others.store(number + 1, base::release); // N
}

copy* copy_of(const note* found) noexcept {
  std::uint64_t distance;
  std::memcpy(&distance, found->to_descriptor, sizeof distance);
  return reinterpret_cast<copy*>(reinterpret_cast<std::uintptr_t>(found->to_descriptor) + distance);
}

// Linkers put notes of several kinds and alignments into one segment, so any word may be the first
// one of a note.
void look_at_notes(std::uintptr_t at, std::size_t bytes, std::vector<copy*>& open) {
  for (; bytes >= sizeof(note); at += sizeof(std::uint32_t), bytes -= sizeof(std::uint32_t)) {
    const auto* const found = reinterpret_cast<const note*>(at);
    if (std::memcmp(found, &nopal_note, offsetof(note, to_descriptor)) == 0 &&
        copy_of(found)->open.load(base::seq_cst) != 0) // O
      open.push_back(copy_of(found));
  }
}

int look_at_file(dl_phdr_info* file, std::size_t, void* open) {
  for (std::size_t i = 0; i < file->dlpi_phnum; ++i)
    if (const ElfW(Phdr)& part = file->dlpi_phdr[i]; part.p_type == PT_NOTE)
      look_at_notes(file->dlpi_addr + part.p_vaddr, part.p_memsz,
                    *static_cast<std::vector<copy*>*>(open));
  return 0;
}

// The worker of this copy that is set aside on this thread. The functions that use it are not
// inlined: a compiler would keep its place across a change of threads.
thread_local worker* aside __attribute__((tls_model("initial-exec"))) = nullptr;

// In the child of fork() the other copies are there, and begin anew too.
NOPAL_IN_CHILD([]() noexcept {
  base::renew(lock);
  aside = nullptr;
});

bool set_aside() noexcept {
  worker* const self = vproc::current();
  if (!vproc::is_worker(self))
    return false;
  aside = self; // was null: a thread runs no strand of a copy that has set a worker aside
  arch::nopal_self = &vproc::no_worker;
  return true;
}

// Another group may have taken the vproc's signals meanwhile, so the strand looks at itself again.
void go_on() noexcept {
  worker* const self = take_aside();
  if (self == nullptr)
    base::lost_in_child();
  arch::nopal_self = self;
  look_at_next_fork();
}

} // namespace

[[gnu::noinline]] worker* take_aside() noexcept { return std::exchange(aside, nullptr); }

[[gnu::noinline]] void put_aside(worker* before) noexcept {
  aside = before;
  arch::nopal_self = &vproc::no_worker;
}

extern "C" {
constinit copy nopal_copy{1, 0, meet, set_aside, go_on, vproc::lowest_of_this_threads_stack};
}

void meet_other_copies() noexcept {
  nopal_copy.open.store(1, base::seq_cst); // O: before it looks for others
  std::vector<copy*> open;
  dl_iterate_phdr(look_at_file, &open); // no file is unloaded meanwhile
  for (copy* const other : open) {
    if (other == &nopal_copy)
      continue;
    meet(other);
    other->meet(&nopal_copy);
  }
}

std::uint32_t copies() noexcept { return number_of_others.load(base::acquire) + 1; } // N

std::uintptr_t lowest_stack_known_to_others() noexcept {
  std::uintptr_t lowest = 0;
  const std::uint32_t number = number_of_others.load(base::acquire); // N
  for (std::uint32_t i = 0; i < number && lowest == 0; ++i)
    lowest = others[i]->own_stack();
  return lowest;
}

copy* set_other_aside() noexcept {
  const std::uint32_t number = number_of_others.load(base::acquire); // N
  for (std::uint32_t i = 0; i < number; ++i)
    if (others[i]->set_aside())
      return others[i];
  return nullptr;
}

} // namespace nopal::inline NOPAL_ABI::sched
