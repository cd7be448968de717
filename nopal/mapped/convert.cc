// SPDX-License-Identifier: MIT
// Each private writable mapping is copied to a part of the arena, which then takes its place. In
// between nothing may be written there: neither variables nor, while main's stack is copied, that.
#include "nopal/mapped/before_main.h"

#include "nopal/arch/arch.h"
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/mapped/memory.h"
#include "nopal/mapped/proc_maps.h"
#include "nopal/mapped/ranges.h"
#include "nopal/mapped/sharing.h"

#include <algorithm>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {
namespace {

constexpr std::size_t kListBytes = std::size_t{1} << 20;

// The list of mappings, in memory that is shared already.
class list {
public:
  list() noexcept : at_{take_memory(kListBytes)} {
    fits_ = read_mappings(reinterpret_cast<char*>(at_), kListBytes, text_);
  }
  ~list() { give_memory(at_, kListBytes); }
  list(const list&) = delete;
  list& operator=(const list&) = delete;
  bool fits() const noexcept { return fits_; }
  bool next(mapping& found) noexcept { return next_mapping(text_, found); }

private:
  std::uintptr_t at_;
  std::string_view text_;
  bool fits_;
};

bool is_reserved(std::uintptr_t at) noexcept {
  return at >= layout::arena && at < layout::view_end;
}

bool has(std::string_view name, std::string_view part) noexcept {
  return name.find(part) != std::string_view::npos;
}

bool copy_to(std::uintptr_t part, std::uintptr_t from, std::uintptr_t to) noexcept {
  while (from < to) {
    const long done = raw(SYS_pwrite64, memory_file, from, to - from, offset_of(part));
    if (done <= 0)
      return false;
    part += static_cast<std::size_t>(done);
    from += static_cast<std::size_t>(done);
  }
  return true;
}

// Pages that are zero stay holes.
bool is_zero(std::uintptr_t at) noexcept {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(at);
  return std::all_of(words, words + page / sizeof *words, [](std::uint64_t w) { return w == 0; });
}
void copy_written(std::uintptr_t part, const mapping& whole) noexcept {
  for (std::uintptr_t at = whole.from, end = at; at < whole.to; at = end += page) {
    while (end < whole.to && (whole.of_file || !is_zero(end)))
      end += page;
    if (!copy_to(part + (at - whole.from), at, end))
      base::die("nopal::mapped found no memory for a copy of the program's variables");
  }
}

// Of main's stack all is mapped to which it may grow.
struct move_of_stack {
  const mapping& stack;
  std::uintptr_t low, part;
};
void move_stack(void* argument) {
  const auto& [stack, low, part] = *static_cast<const move_of_stack*>(argument);
  copy_written(part + (stack.from - low), stack);
  map_part(part, low, stack.to - low, PROT_READ | PROT_WRITE);
}

void convert_stack(const mapping& stack) noexcept {
  constexpr std::size_t unlimited = std::size_t{64} << 20, room = std::size_t{64} << 10;
  rlimit limit{};
  raw(SYS_prlimit64, 0, RLIMIT_STACK, nullptr, &limit);
  const std::size_t bytes = limit.rlim_cur == RLIM_INFINITY ? unlimited : limit.rlim_cur & -page;
  const std::uintptr_t low = std::min(stack.from, stack.to - bytes);
  const std::uintptr_t part = take_memory(stack.to - low);
  const std::uintptr_t other = take_memory(room);
  move_of_stack move{stack, low, part};
  arch::nopal_arch_call_on(move_stack, &move, other + room);
  give_memory(other, room);
  images.add(low, stack.to - low, part);
}

void convert(const mapping& whole) noexcept {
  const std::size_t bytes = whole.to - whole.from;
  const std::uintptr_t part = take_memory(bytes);
  images.add(whole.from, bytes, part);
  copy_written(part, whole);
  map_part(part, whole.from, bytes, whole.access);
}

} // namespace

bool find_code(code& found) noexcept {
  list all;
  const bool has_fixed_addresses = getauxval(AT_PHDR) < (std::uintptr_t{1} << 32);
  const auto own_text = reinterpret_cast<std::uintptr_t>(nopal_arch_calls);
  for (mapping each{}; all.next(each);) {
    if ((each.access & PROT_EXEC) == 0 || !each.of_file)
      continue;
    if (found.count == most_text_ranges || found.library_count == std::size(found.library))
      return false;
    // A program with fixed addresses may execute another one with the same.
    const bool is_own = own_text >= each.from && own_text < each.to;
    if (!is_own || !has_fixed_addresses)
      found.text[found.count++] = {each.from, each.to};
    if (has(each.name, "/libc.so") || has(each.name, "/libc-2") || has(each.name, "/libpthread"))
      found.library[found.library_count++] = {each.from, each.to};
  }
  return all.fits();
}

void convert_memory() noexcept {
  list all;
  for (mapping each{}; all.next(each);) {
    if (each.shared || (each.access & PROT_WRITE) == 0 || is_reserved(each.from) ||
        each.from > 0x7fff'ffff'ffff)
      continue;
    if (each.name == "[stack]")
      convert_stack(each);
    else
      convert(each);
  }
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
