// SPDX-License-Identifier: MIT
// A diagnosis that check builds link in (nopal/process/run/isolation.h): what a word of a stolen
// frame points to.
#include "nopal/process/run/isolation.h"

#include "nopal/arch/uni_address.h"
#include "nopal/base/die.h"
#include "nopal/base/sanitizer.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <set>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

struct range {
  std::uintptr_t from;
  std::uintptr_t to;
  const char* what;

  bool holds(std::uintptr_t at) const noexcept { return at >= from && at < to; }
};

constexpr const char* allocated = "memory that one process has allocated";

int add_loaded(dl_phdr_info* info, std::size_t, void* to) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD)
      static_cast<std::vector<range>*>(to)->push_back({at, at + part.p_memsz, nullptr});
  }
  return 0;
}

// The memory that one process has for itself: private, writable, and not mapped from a file.
// Programs and libraries are left out: with their variables they lie at the same addresses in all
// processes.
std::vector<range> own_memory() {
  std::vector<range> loaded;
  dl_iterate_phdr(add_loaded, &loaded);
  std::vector<range> own;
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr)
    return own;
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    range mapping{};
    char rights[8];
    char name[256] = "";
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %*s %255s", &mapping.from,
                    &mapping.to, rights, name) < 3 ||
        rights[1] != 'w' || rights[3] != 'p')
      continue;
    mapping.what = mapping.holds(thread)                  ? "a thread's variables (thread_local)"
                   : std::strncmp(name, "[stack", 6) == 0 ? "the stack of a thread"
                                                          : allocated;
    const bool of_library = std::ranges::any_of(loaded, [&](const range& each) {
      return each.from < mapping.to && mapping.from < each.to;
    });
    if (name[0] != '/' && !of_library)
      own.push_back(mapping);
  }
  std::fclose(maps);
  return own;
}

// A task may have pointers into the region up to `end_of_own`.
const char* what_is_at(std::uintptr_t value, const range& region, std::uintptr_t end_of_own,
                       const std::vector<range>& own) noexcept {
  if (region.holds(value))
    return value > end_of_own ? "the stack of another task" : nullptr;
  if (value >= block_at && value < region.from) // a cell, which a task may refer to
    return nullptr;
  for (const range& each : own)
    if (each.holds(value))
      return each.what;
  return nullptr;
}

// The function in whose frame the word lies: that of the next return address above.
const char* function_at(const std::uintptr_t* word, const std::uintptr_t* end) noexcept {
  for (; word < end; ++word) {
    Dl_info place{};
    if (*word > base::page_size() && dladdr(reinterpret_cast<void*>(*word), &place) != 0 &&
        place.dli_sname != nullptr)
      return place.dli_sname;
  }
  return "a function that is not exported";
}

} // namespace

void check_isolation(const layout& memory, segment arrived) {
  if (base::a_tool_watches()) // AddressSanitizer keeps addresses of its own in frames
    return;
  static std::set<std::pair<std::uint32_t, const char*>> said;
  const range frames{memory.region_at() + arrived.lower, memory.region_at() + arrived.upper,
                     nullptr};
  const range region{memory.region_at(), memory.region_end(), nullptr};
  const std::vector<range> own = own_memory();
  const auto* const end = reinterpret_cast<const std::uintptr_t*>(frames.to);
  // After `upper` of its context. Addresses below the task's upper end are not reported: words of
  // frames that have ended may name them, and at the upper end lies the parent's context.
  const auto* at = reinterpret_cast<const std::uintptr_t*>(frames.from) + 1;
  for (; at < end; ++at) {
    const char* const what = what_is_at(*at, region, frames.to, own);
    if (what == nullptr ||
        !said.insert({static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at)), what})
             .second)
      continue;
    base::say("a task that came from another process has a pointer to %s in its frames: %#tx, %td "
              "bytes below the upper end, above %s; tasks use only what they were given",
              what, *at, frames.to - reinterpret_cast<std::uintptr_t>(at), function_at(at, end));
  }
}

void check_given(const void* bytes, std::size_t size, const char* types) noexcept {
  constexpr unsigned spawns_between_looks = 4096; // at all that is mapped, which takes long
  static unsigned spawns = 0;
  static std::vector<range> own;
  static std::set<const char*> said;
  if (base::a_tool_watches())
    return;
  if (spawns++ % spawns_between_looks == 0)
    own = own_memory();
  const range region{arch::nopal_own_region[0], arch::nopal_own_region[1], nullptr};
  std::uintptr_t value = 0;
  for (std::size_t i = 0; i + sizeof value <= size; i += sizeof value) {
    std::memcpy(&value, static_cast<const char*>(bytes) + i, sizeof value);
    const char* const what = what_is_at(value, region, 0, own);
    if (what != nullptr && said.insert(types).second)
      base::say("a task is given a pointer to %s, %#tx: %s; tasks use only copies of what they are "
                "given",
                what, value, types);
  }
}

[[gnu::noinline]] void clear_stack_below() noexcept {
  volatile std::uint64_t below[512];
  for (volatile std::uint64_t& each : below)
    each = 0;
}

} // namespace nopal::inline NOPAL_ABI::process
