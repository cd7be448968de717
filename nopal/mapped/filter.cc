// SPDX-License-Identifier: MIT
// First the number is looked at, then the argument that decides, then the address. For numbers that
// are let through whatever else is true, the kernel does not run the filter (since Linux 5.11).
#include "nopal/mapped/before_main.h"

#include "nopal/config.h"
#include "nopal/mapped/calls.h"
#include "nopal/mapped/layout.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/sharing.h"
#include "nopal/mapped/traps.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

constexpr std::uint32_t kTrap = SECCOMP_RET_TRAP | trap_mark;
constexpr std::uint32_t error(int number) noexcept {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number);
}

class program {
public:
  explicit program(sock_filter* place) noexcept : code_{place} { load_number(); }

  // What is decided if the number is this one.
  void on(int number, std::uint32_t decision) noexcept {
    jump(BPF_JEQ, static_cast<std::uint32_t>(number), 0, 3);
    decide(decision);
  }
  // The same if an argument's lower half has a bit, or is a value, or is not (`unless`).
  void on(int number, unsigned argument, std::uint16_t test, std::uint32_t value,
          std::uint32_t decision, bool unless = false) noexcept {
    jump(BPF_JEQ, static_cast<std::uint32_t>(number), 0, 6);
    load(offsetof(seccomp_data, args) + 8 * argument);
    jump(test, value, unless ? 3 : 0, unless ? 0 : 3);
    decide(decision);
    load_number();
  }
  // All other numbers are let through; and so is all from other addresses.
  void end_numbers() noexcept {
    to_end_ = length_;
    put(BPF_JMP | BPF_JA, 0);
    for (unsigned i = 0; i < waiting_count_; ++i)
      code_[waiting_[i]].k = length_ - waiting_[i] - 1;
  }
  void end_addresses() noexcept {
    code_[to_end_].k = length_ - to_end_ - 1;
    allow();
  }

  // The decision holds for addresses in [from, to), which crosses no multiple of 4 GiB; or, `let`,
  // the call is let through.
  void on_address(std::uintptr_t from, std::uintptr_t to, bool let = false) noexcept {
    load(offsetof(seccomp_data, instruction_pointer) + 4);
    jump(BPF_JEQ, static_cast<std::uint32_t>(from >> 32), 0, 5);
    load(offsetof(seccomp_data, instruction_pointer));
    jump(BPF_JGE, static_cast<std::uint32_t>(from), 0, 3);
    jump(BPF_JGT, static_cast<std::uint32_t>(to - 1), 2, 0);
    end(let);
  }
  // For multiples of 4 GiB.
  void on_zone(std::uintptr_t from, std::uintptr_t to) noexcept {
    load(offsetof(seccomp_data, instruction_pointer) + 4);
    jump(BPF_JGE, static_cast<std::uint32_t>(from >> 32), 0, 3);
    jump(BPF_JGE, static_cast<std::uint32_t>(to >> 32), 2, 0);
    end(false);
  }

  std::uint16_t length() const noexcept { return static_cast<std::uint16_t>(length_); }

private:
  void allow() noexcept { put(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
  void put(unsigned code, std::uint32_t k, unsigned yes = 0, unsigned no = 0) noexcept {
    code_[length_++] = {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(yes),
                        static_cast<std::uint8_t>(no), k};
  }
  void load(std::size_t offset) noexcept {
    put(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  void load_number() noexcept { load(offsetof(seccomp_data, nr)); }
  void jump(unsigned test, std::uint32_t value, unsigned yes, unsigned no) noexcept {
    put(BPF_JMP | BPF_K | test, value, yes, no);
  }
  // The address remains to be looked at.
  void decide(std::uint32_t decision) noexcept {
    put(BPF_LD | BPF_IMM, decision);
    put(BPF_ST, 0);
    waiting_[waiting_count_++] = length_;
    put(BPF_JMP | BPF_JA, 0);
  }
  void end(bool let) noexcept {
    if (let) {
      allow();
      return allow(); // as long as the other
    }
    put(BPF_LD | BPF_MEM, 0);
    put(BPF_RET | BPF_A, 0);
  }

  sock_filter* code_;
  unsigned length_ = 0;
  unsigned waiting_[128]; // jumps to where addresses are looked at
  unsigned waiting_count_ = 0;
  unsigned to_end_ = 0;
};

void decide_by_number(program& filter) noexcept {
  for (const auto& each : trapped_calls())
    if (each.when.test == 0)
      filter.on(each.number, kTrap);
    else
      filter.on(each.number, each.when.argument, each.when.test, each.when.value, kTrap,
                each.when.unless);
  filter.on(SYS_clone3, error(ENOSYS)); // the C library uses clone, whose arguments are in sight
  filter.on(SYS_pkey_alloc, error(ENOSPC)); // keys are a process's and a thread's own
  for (const int advice : {MADV_DONTNEED, MADV_FREE, dont_need_locked}) // as before Linux 6.13
    filter.on(SYS_process_madvise, 3, BPF_JEQ, static_cast<unsigned>(advice), error(EINVAL));
  filter.on(SYS_close, 0, BPF_JEQ, static_cast<std::uint32_t>(memory_file), error(EBADF));
  for (const int duplicate : {SYS_dup2, SYS_dup3})
    filter.on(duplicate, 1, BPF_JEQ, static_cast<std::uint32_t>(memory_file), error(EBADF));
  for (const refusal& each : refusals())
    if (each.number == SYS_personality)
      filter.on(each.number, 0, BPF_JEQ, 0xffffffff, kTrap, true);
    else if (each.always)
      filter.on(each.number, kTrap);
  filter.end_numbers();
}

void decide_by_address(program& filter, std::span<const text_range> text) noexcept {
  constexpr std::uintptr_t part = std::uintptr_t{1} << 32;
  filter.on_address(reinterpret_cast<std::uintptr_t>(nopal_arch_calls),
                    reinterpret_cast<std::uintptr_t>(nopal_arch_calls_end) + 1, true);
  filter.on_zone(layout::arena, layout::arena + layout::arena_bytes);
  filter.on_zone(layout::private_files, layout::shared_files + layout::files_bytes);
  for (const text_range& each : text)
    for (std::uintptr_t from = each.from, to; from < each.to; from = to) {
      to = std::min(each.to, (from / part + 1) * part);
      filter.on_address(from, to);
    }
  filter.end_addresses();
}

} // namespace

int install_filter(std::span<const text_range> text) noexcept {
  constexpr std::size_t most = BPF_MAXINSNS * sizeof(sock_filter);
  const std::uintptr_t room = take_memory(most);
  program filter{reinterpret_cast<sock_filter*>(room)};
  decide_by_number(filter);
  decide_by_address(filter, text);
  const sock_fprog all{filter.length(), reinterpret_cast<sock_filter*>(room)};
  const auto install = [&] {
    return static_cast<int>(
        -raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &all));
  };
  int refused = install();
  if (refused == EACCES && raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    refused = install(); // only the superuser may without
  give_memory(room, most);
  return refused;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
