// SPDX-License-Identifier: MIT
// The searches for marks on a stack.
#include "nopal/stack/marks.h"

#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"

#include <algorithm>

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack {

using word = std::uintptr_t;
constexpr word kPagesAtOnce = 64; // the most that which_resident takes

[[gnu::noinline]] NOPAL_READS_FRAMES word marks::highest_in(word from, word to,
                                                            word offset) noexcept {
  word found = 0;
  while (to > from) {
    to -= sizeof(word);
    if (is_mark(to, base::load_relaxed_word(to + offset))) [[unlikely]] {
      found = to;
      break;
    }
  }
  base::acquire_what_was_read(); // M
  arch::forget_registers();
  return found;
}

[[gnu::noinline]] NOPAL_READS_FRAMES bool marks::claim(word at, word offset) noexcept {
  const base::reading_frames reading;
  word found = open_mark(at);
  const bool yes =
      base::replace_word(at + offset, found, claimed_mark(at)) || found == claimed_mark(at);
  arch::forget_registers();
  return yes;
}

[[gnu::noinline]] NOPAL_READS_FRAMES bool marks::claimed(word at, word offset) noexcept {
  const base::reading_frames reading;
  const bool yes =
      base::reading_frames::found(base::load_relaxed_word(at + offset)) == claimed_mark(at);
  arch::forget_registers();
  return yes;
}

[[gnu::noinline]] NOPAL_READS_FRAMES bool marks::is_open(word at, word offset) noexcept {
  const base::reading_frames reading;
  const bool yes = is_mark(at, base::reading_frames::found(base::load_relaxed_word(at + offset)));
  arch::forget_registers();
  return yes;
}

[[gnu::noinline]] NOPAL_READS_FRAMES word marks::lowest(word from, word to, word offset) noexcept {
  const base::reading_frames reading;
  from = (from + sizeof(word) - 1) & ~(sizeof(word) - 1);
  while (from < to && !is_mark(from, base::load_relaxed_word(from + offset)))
    from += sizeof(word);
  base::acquire_what_was_read(); // M
  arch::forget_registers();
  return from < to ? base::reading_frames::found(from) : 0;
}

// The walk reads the page where it begins. Deeper pages may never have been used, and reading would
// give each of them a mapping, so the kernel is asked first which have memory. (A page that was
// swapped out passes for an unused one until its owner reads it: its open forks must wait.)
word marks::highest(word from, word to, word offset) noexcept {
  if (from >= to)
    return 0;
  const base::reading_frames reading;
  const word page = base::page_size();
  const word bottom = from & ~(page - 1);
  word low = std::max(bottom, (to - 1) & ~(page - 1));
  word found = highest_in(std::max(from, low), to, offset);
  while (found == 0 && low > bottom) {
    const word high = low;
    low = std::max(bottom, high - std::min(high, kPagesAtOnce * page));
    const std::uint64_t there = base::which_resident(low + offset, (high - low) / page);
    if (there == 0 &&
        base::resident_pages(reinterpret_cast<void*>(bottom + offset), low - bottom) == 0)
      break; // no frame was ever so deep; otherwise this is the untouched middle of a large frame
    for (word at = high - page; at >= low && found == 0; at -= page)
      if ((there >> ((at - low) / page) & 1) != 0)
        found = highest_in(std::max(from, at), at + page, offset);
  }
  return found;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack
