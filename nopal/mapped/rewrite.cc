// SPDX-License-Identifier: MIT
// `mov $202,%eax; syscall` becomes `jmp aside; syscall`, with aside: `btr $7,%esi` (which clears
// FUTEX_PRIVATE_FLAG), `mov $202,%eax`, `jmp` to that syscall. The instruction syscall stays where
// it was, so whoever jumps there is right, and unwinders find the function around it.
#include "nopal/mapped/before_main.h"

#include "nopal/config.h"
#include "nopal/mapped/ranges.h"
#include "nopal/mapped/sharing.h"

#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

constexpr unsigned char kSite[] = {0xb8, 202, 0, 0, 0, 0x0f, 0x05};
constexpr unsigned char kAside[] = {0x0f, 0xba, 0xf6, 0x07, 0xb8, 202, 0, 0, 0};
constexpr unsigned char kJump = 0xe9;
constexpr std::size_t kJumpBytes = 5;
constexpr std::uintptr_t kReach = std::uintptr_t{1} << 30; // of a jump, with a margin

void write_jump(unsigned char* at, const unsigned char* to) noexcept {
  const auto distance = static_cast<std::int32_t>(to - (at + kJumpBytes));
  *at = kJump;
  std::memcpy(at + 1, &distance, sizeof distance);
}

bool is_prefix(unsigned char byte) noexcept { return (byte & 0xf0) == 0x40; } // mov to r8d

// A page for the code aside, where no library will be.
unsigned char* page_near(std::uintptr_t text) noexcept {
  const long got = raw(SYS_mmap, (text - kReach / 8) & -page, page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto at = static_cast<std::uintptr_t>(got);
  if (got > 0 && (at < text ? text - at : at - text) < kReach)
    return reinterpret_cast<unsigned char*>(at);
  return nullptr;
}

} // namespace

void rewrite_futexes(std::uintptr_t from, std::uintptr_t to) noexcept {
  unsigned char* aside = page_near(from);
  unsigned char* const end = aside + page - sizeof kAside - kJumpBytes;
  if (aside == nullptr ||
      raw(SYS_mprotect, from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return;
  auto* const last = reinterpret_cast<unsigned char*>(to) - sizeof kSite;
  auto* found = reinterpret_cast<unsigned char*>(from) + 1;
  while (aside < end && found < last) { // the number's byte is rare, so the search for it is fast
    const auto left = static_cast<std::size_t>(last - found);
    found = static_cast<unsigned char*>(std::memchr(found + 1, kSite[1], left));
    if (found == nullptr)
      break;
    unsigned char* const site = found - 1;
    if (std::memcmp(site, kSite, sizeof kSite) != 0 || is_prefix(site[-1]))
      continue;
    std::memcpy(aside, kAside, sizeof kAside);
    write_jump(aside + sizeof kAside, site + kJumpBytes);
    write_jump(site, aside);
    aside += sizeof kAside + kJumpBytes;
  }
  raw(SYS_mprotect, from, to - from, PROT_READ | PROT_EXEC);
  raw(SYS_mprotect, reinterpret_cast<std::uintptr_t>(aside) & -page, page, PROT_READ | PROT_EXEC);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
