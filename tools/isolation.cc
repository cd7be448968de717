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
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
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

// The functions of the program, also those that it does not export: from its file, if that was not
// stripped of them.
class functions {
public:
  functions() {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat found{};
    if (file < 0 || fstat(file, &found) != 0)
      return;
    void* const mapped =
        mmap(nullptr, static_cast<std::size_t>(found.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (mapped == MAP_FAILED)
      return;
    dl_iterate_phdr(note_program, &moved_by_);
    at_ = static_cast<const char*>(mapped);
    const ElfW(Ehdr)& head = *there<ElfW(Ehdr)>(0);
    const auto* const sections = there<ElfW(Shdr)>(head.e_shoff);
    for (int i = 0; head.e_shoff != 0 && i < head.e_shnum; ++i)
      if (sections[i].sh_type == SHT_SYMTAB) {
        all_ = {there<ElfW(Sym)>(sections[i].sh_offset), sections[i].sh_size / sizeof(ElfW(Sym))};
        names_ = there<char>(sections[sections[i].sh_link].sh_offset);
      }
  }

  // The function to which a call returns at this address; empty if none is known.
  std::string name_at(std::uintptr_t address) const {
    const auto holds = [at = address - moved_by_](const ElfW(Sym) & each) {
      return ELF64_ST_TYPE(each.st_info) == STT_FUNC && at > each.st_value &&
             at <= each.st_value + each.st_size;
    };
    const auto found = std::ranges::find_if(all_, holds);
    Dl_info place{};
    const bool exported = found == all_.end() && address > base::page_size() &&
                          dladdr(reinterpret_cast<void*>(address), &place) != 0 &&
                          place.dli_sname != nullptr;
    if (found == all_.end() && !exported)
      return {};
    const char* const name = exported ? place.dli_sname : names_ + found->st_name;
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> plain{
        abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free};
    return plain != nullptr ? plain.get() : name;
  }

private:
  static int note_program(dl_phdr_info* info, std::size_t, void* to) {
    *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
    return 1; // the first is the program
  }
  template <class T> const T* there(std::size_t offset) const noexcept {
    return reinterpret_cast<const T*>(at_ + offset);
  }

  const char* at_ = nullptr;
  std::uintptr_t moved_by_ = 0;
  std::span<const ElfW(Sym)> all_;
  const char* names_ = nullptr;
};

// The function in whose frame the word lies: that of the next return address below. A register that
// was preserved has none below it; it is that of the function that spawned.
std::string function_of(const std::uintptr_t* word, const std::uintptr_t* begin,
                        const std::uintptr_t* end) {
  static const functions known;
  for (const std::uintptr_t* below = word; below-- > begin;)
    if (std::string name = known.name_at(*below); !name.empty())
      return name;
  for (const std::uintptr_t* above = word; above < end; ++above)
    if (std::string name = known.name_at(*above); !name.empty())
      return name;
  return "a function whose name is not known";
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
  const auto* const begin = reinterpret_cast<const std::uintptr_t*>(frames.from) + 1;
  for (const auto* at = begin; at < end; ++at) {
    const char* const what = what_is_at(*at, region, frames.to, own);
    if (what == nullptr ||
        !said.insert({static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at)), what})
             .second)
      continue;
    base::say("a task that came from another process has a pointer to %s in its frames: %#tx, %td "
              "bytes below the upper end, in %s; tasks use only what they were given",
              what, *at, frames.to - reinterpret_cast<std::uintptr_t>(at),
              function_of(at, begin, end).c_str());
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
