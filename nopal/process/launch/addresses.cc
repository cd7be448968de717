// SPDX-License-Identifier: MIT
// Addresses of the program and its libraries, made and found to be the same.
#include "nopal/process/launch/addresses.h"

#include "nopal/base/die.h"
#include "nopal/config/environment.h"
#include "nopal/process/launch/known_mpis.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <link.h>
#include <string>
#include <string_view>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <vector>

namespace nopal::inline NOPAL_ABI::process {
namespace {

constexpr const char* the_program = "the program";
// Set for the program that is begun anew: `name`, and the name that the process had.
constexpr const char* tried = "NOPAL_ADDRESSES_FIXED";
constexpr std::string_view had_name = "name ";
constexpr std::size_t longest_name = 16; // with the zero at its end

struct loaded {
  std::uintptr_t at;
  std::uint64_t build; // of the file: a hash of its notes and sizes
  char name[112];
};

std::uint64_t hashed(std::uint64_t hash, const void* bytes, std::size_t size) noexcept {
  const auto* const at = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ at[i]) * 0x100000001b3u; // FNV-1a
  return hash;
}

int note_loaded(dl_phdr_info* info, std::size_t, void* to) {
  loaded found{info->dlpi_addr, 0xcbf29ce484222325u, {}};
  const bool program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
  const char* const slash = program ? nullptr : std::strrchr(info->dlpi_name, '/');
  const char* const name = program ? the_program : slash != nullptr ? slash + 1 : info->dlpi_name;
  std::strncpy(found.name, name, sizeof found.name - 1);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type == PT_LOAD)
      found.build = hashed(found.build, &part.p_memsz, sizeof part.p_memsz);
    else if (part.p_type == PT_NOTE) // the build's identity is among the notes
      found.build = hashed(
          found.build, reinterpret_cast<const void*>(info->dlpi_addr + part.p_vaddr), part.p_memsz);
  }
  if (std::strncmp(found.name, "linux-vdso", 10) != 0) // the kernel's, which calls nothing back
    static_cast<std::vector<loaded>*>(to)->push_back(found);
  return 0;
}

// Sorted, since libraries may be loaded in another order in each process.
std::vector<loaded> all_loaded() {
  std::vector<loaded> all;
  dl_iterate_phdr(note_loaded, &all);
  std::ranges::sort(all, {}, [](const loaded& each) { return std::string(each.name); });
  return all;
}

// Both are set before main, and the list anew by the thread that makes the session. It is never
// destroyed.
constinit bool asked_system = false; // to place the program at fixed addresses
constinit std::vector<loaded>* noted = nullptr;

// Ends the program, unless it is only a library that lies elsewhere: frames of a library are above
// a spawn only if it has called the program back.
void judge(const loaded& first, const loaded& other, unsigned process) {
  if (std::strcmp(other.name, first.name) != 0 || other.build != first.build)
    base::die("processes 0 and %u were built differently (%s): begin the same program with the "
              "same libraries everywhere",
              process, first.name);
  if (std::strcmp(first.name, the_program) == 0)
    base::die("the program lies at different addresses in processes 0 and %u (%#lx and %#lx), "
              "because %s: link it with -no-pie, or begin it with setarch -R where that is allowed",
              process, first.at, other.at,
              asked_system ? "the system does not let it switch off the randomisation of addresses "
                             "(personality)"
                           : "it was begun by no launcher that Nopal knows, and so was not begun "
                             "anew at fixed ones");
}

// The process was begun anew, and has its addresses. What it begins itself is to be as if it had
// not been.
void forget_the_beginning(std::string_view before, int kind) {
  if (before.starts_with(had_name)) {
    prctl(PR_SET_NAME, before.data() + had_name.size());
    personality(static_cast<unsigned long>(kind & ~ADDR_NO_RANDOMIZE));
  }
  unsetenv(tried);
}

// Before main and what it does: a process that a launcher has begun switches the randomisation of
// addresses off, and begins anew, once. It executes its file, whatever has the file's name by now.
// A program with rights that its user lacks knows of no launcher (config::variable).
[[gnu::constructor]] void fix_addresses(int, char** argv, char**) {
  if (std::ranges::none_of(known_mpis,
                           [](const known_mpi& each) { return config::variable(each.number); }))
    return;
  asked_system = true;
  note_libraries();
  const int now = personality(0xffffffff);
  if (const char* const before = config::variable(tried))
    return forget_the_beginning(before, now);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE) != 0 ||
      personality(static_cast<unsigned long>(now | ADDR_NO_RANDOMIZE)) == -1)
    return;
  char own_name[longest_name] = {};
  prctl(PR_GET_NAME, own_name);
  setenv(tried, (std::string(had_name) + own_name).c_str(), 1);
  execv("/proc/self/exe", argv);
  unsetenv(tried); // it could not be begun anew
  personality(static_cast<unsigned long>(now));
}

} // namespace

void note_libraries() {
  delete noted;
  noted = new std::vector<loaded>(all_loaded());
}

// Libraries are compared in the order of their names, one at a time; process 0 is the measure.
void compare_addresses(group& all) {
  const std::vector<loaded> own = noted == nullptr ? all_loaded() : *noted;
  const std::size_t number = own.size();
  std::vector<std::size_t> numbers(all.size());
  all.all_gather(&number, numbers.data(), sizeof number);
  const std::size_t fewest = *std::ranges::min_element(numbers);
  std::string elsewhere;
  for (std::size_t i = 0; i < fewest; ++i) {
    std::vector<loaded> each(all.size());
    all.all_gather(&own[i], each.data(), sizeof(loaded));
    const loaded& first = each[0];
    const auto differs = std::ranges::find_if(each, [&](const loaded& other) {
      return std::strcmp(other.name, first.name) != 0 || other.build != first.build ||
             other.at != first.at;
    });
    if (differs == each.end())
      continue;
    judge(first, *differs, static_cast<unsigned>(differs - each.begin()));
    char both[48];
    std::snprintf(both, sizeof both, " (%#lx and %#lx)", first.at, differs->at);
    elsewhere += (elsewhere.empty() ? "" : ", ") + std::string(first.name) + both;
  }
  if (all.rank() == 0 && !elsewhere.empty())
    base::say("not at the same addresses in all processes: %s; no function that these call may "
              "spawn or join, and no task may keep an address of their functions or data across "
              "a spawn or a join",
              elsewhere.c_str());
}

} // namespace nopal::inline NOPAL_ABI::process
